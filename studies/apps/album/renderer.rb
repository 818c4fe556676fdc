# frozen_string_literal: true

require "json"
require "socket"

module Album
  # The page's side of render.js: a line of JSON there, a line of JSON back, over a pool of connections.
  class Renderer
    WorkApp = Cuttle::Lab::WorkApp

    # address: "host:port".
    def initialize(address, size)
      raise WorkApp::Unavailable.new(503, "renderer: ALBUM_RENDERER does not say where it is") if address.to_s.empty?

      host, _, port = address.rpartition(":")
      @pool = WorkApp::Pool.new(size) { connect(host, port) }
    end

    # HTML of the photos, [id, title, text] each, once the renderer had been busy with them for so long. Raises
    # Unavailable.
    def render(photos, milliseconds)
      question = JSON.generate("photos" => photos, "ms" => milliseconds)
      answer = JSON.parse(@pool.with { |socket| ask(socket, question) })
      answer.fetch("html") { raise IOError, answer["error"] }
    rescue SystemCallError, IOError, JSON::ParserError => error
      raise WorkApp::Unavailable.new(502, "renderer: #{error.message.lines.first.to_s.strip}")
    end

    private

    def connect(host, port)
      TCPSocket.new(host, port).tap { |socket| socket.setsockopt(:TCP, :NODELAY, true) }
    end

    def ask(socket, question)
      socket.write(question, "\n")
      socket.gets or raise EOFError, "it closed the connection"
    end
  end
end

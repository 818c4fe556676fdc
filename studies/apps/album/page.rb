# frozen_string_literal: true

require "cgi/escape"
require "uri"
require_relative "../../../lib/cuttle/lab/apps/work_app"
require_relative "renderer"

module Album
  # Answers every path with the page of an album. A request changes nothing but what the pools hold, so any number of
  # threads, fibers and forked processes may call.
  class Page
    WorkApp = Cuttle::Lab::WorkApp

    # Parameters, in milliseconds, with their defaults. More than a minute is a mistake.
    TIMES = { "query_ms" => 1.0, "render_ms" => 10.0, "cpu_ms" => 1.0 }.freeze
    MOST = 60_000

    # database: as libpq takes it; renderer: "host:port"; connections: to each of them, in a process.
    def initialize(database:, renderer:, connections:)
      @database = database
      @renderer = renderer
      @size = connections
      @connections = {}
      @lock = Mutex.new
      WorkApp::Database.require_driver # what is missing is better said at the start
    end

    # Rack's interface.
    def call(env)
      answer(env, 200, "text/html", page(times(env["QUERY_STRING"].to_s)))
    rescue WorkApp::Invalid => error
      answer(env, 400, "text/plain", "#{error.message}\n")
    rescue WorkApp::Unavailable => error
      answer(env, error.status, "text/plain", "#{error.message}\n")
    end

    private

    # The first query finds the album, the second one its photos.
    def page(times)
      database, renderer = connections
      album = database.read(times["query_ms"] / 1000).first
      photos = database.read(times["query_ms"] / 1000)
      html = renderer.render(photos, times["render_ms"])
      WorkApp::Burner.burn(times["cpu_ms"] / 1000)
      "<!DOCTYPE html>\n<title>#{CGI.escapeHTML(album[1])}</title>\n#{html}\n"
    end

    def times(query)
      TIMES.merge(URI.decode_www_form(query).to_h { |name, value| [name, time(name, value)] })
    rescue ArgumentError
      raise WorkApp::Invalid, "query string: not in the form name=value&name=value"
    end

    def time(name, value)
      raise WorkApp::Invalid, "no parameter #{name.inspect} (#{TIMES.keys.join(", ")})" unless TIMES.key?(name)

      number = value.match?(/\A\d+(\.\d+)?\z/) ? value.to_f : -1
      return number if number.between?(0, MOST)

      raise WorkApp::Invalid, "#{name}: a number from 0 to #{MOST}, not #{value.inspect}"
    end

    # A process's own: one that forked after its first request makes others.
    def connections
      @connections[Process.pid] || @lock.synchronize do
        @connections[Process.pid] ||= [WorkApp::Database.new(@database, @size), Renderer.new(@renderer, @size)]
      end
    end

    def answer(env, status, type, body)
      headers = { "content-type" => type, "content-length" => body.bytesize.to_s, "cache-control" => "no-store" }
      [status, headers, env["REQUEST_METHOD"] == "HEAD" ? [] : [body]]
    end
  end
end

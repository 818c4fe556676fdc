# frozen_string_literal: true

require "test_helper"
require "net/http"

# Hello, world on Rails, with its own bundle.
class TestHelloRails < Minitest::Test
  include TemporaryDirectory

  Lab = Cuttle::Lab

  def setup
    @app = Lab::Apps.find("hello-rails")
    skip "hello-rails has no gems yet: run examples/setup hello-rails" unless File.exist?("#{@app.gemfile}.lock")
  end

  # Each of those that the study of hello worlds has, where they are here.
  %w[cuttle puma thin unicorn webrick passenger].each do |name|
    define_method("test_#{name}_serves_it") do
      peer = Lab::Servers::Bundled::All.new(@app, "#{@directory}/bundle").find(name)
      skip peer.unavailable if peer.unavailable

      before = files
      serve(peer) do |server|
        answer = Net::HTTP.get_response(URI(server.url))
        assert_equal %w[200 14], [answer.code, answer["content-length"]]
        assert_equal "Hello, world!\n", answer.body
        assert_equal "404", Net::HTTP.get_response(URI("#{server.url}nowhere")).code
        wrong = server.proof.select { |proof| proof.proved == false }
        assert_empty wrong
      end
      assert_equal before, files # neither a log nor anything else
    end
  end

  private

  def files
    Dir.glob("#{@app.directory}/**/*", File::FNM_DOTMATCH).sort
  end

  def serve(peer)
    port = Lab::Servers::Ports.free
    setup = Lab::Servers::Setup.new(model: peer.models.first, workers: peer.workers.begin, threads: 1, port: port,
                                    backlog: 512,
                                    keep_alive: peer.keeps_alive.first, app: @app.rackup, directory: @app.directory,
                                    env: @app.environment, log: "#{@directory}/#{port}.log")
    server = Lab::Servers::Server.start(peer, setup)
    yield server
  ensure
    server&.stop
  end
end

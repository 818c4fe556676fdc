# frozen_string_literal: true

require "test_helper"
require "net/http"
require "tmpdir"

# What a server of a lab finds when it starts.
class TestStage < Minitest::Test
  # Remembers in a file that it was made again what it was.
  class Remembering < Cuttle::Lab::Apps::App
    def reset(services)
      File.write("#{directory}/resets", "#{services.keys.sort} ", mode: "a")
    end

    def environment_for(fibers:)
      super.merge("FIBERS" => fibers.to_s)
    end
  end

  APP = <<~'RUBY'
    told = "#{ENV.values_at("FIBERS", "RAILS_MAX_THREADS").inspect} #{File.read("resets")}"
    run ->(_env) { [200, { "content-type" => "text/plain" }, [told]] }
  RUBY

  def setup
    @directory = Dir.mktmpdir("cuttle-stage")
    File.write("#{@directory}/config.ru", APP)
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_an_app_is_what_it_was_at_every_start
    stage("hybrid") do |stage, configuration|
      assert_equal '["false", "3"] [] ', answer(stage, configuration)
      assert_equal '["false", "3"] [] [] ', answer(stage, configuration)
    end
  end

  # As many connections to a database as there may be requests in a process; where nothing bounds them, the app decides.
  def test_only_a_number_of_threads_is_said
    stage("fibers") { |stage, configuration| assert_equal '["false", nil] [] ', answer(stage, configuration) }
  end

  def test_a_load_may_close_connections_that_a_server_keeps
    stage("hybrid") do |stage, configuration|
      configuration = configuration.class.new(configuration.to_h.merge("keep_alive" => true))
      said = [nil, false, true].map do |keep_alive|
        load = Cuttle::Lab::Results::LoadSpec.new("connections" => 1, "keep_alive" => keep_alive)
        stage.load_options(configuration, load, Cuttle::Lab::Cores.new)[:keep_alive]
      end
      assert_equal [true, false, true], said
    end
  end

  private

  def stage(engine)
    app = Remembering.new(name: "app.ru", rackup: "#{@directory}/config.ru")
    options = Cuttle::Lab::Options.new(app: app.rackup, engines: [engine], workers: [0], threads: [3], rounds: 1)
    Cuttle::Lab::Stage.open(app, options, Cuttle::Lab::Cores.new) do |stage|
      yield stage, Cuttle::Lab::Plan.build(options, peers: stage.peers).configurations.first
    end
  end

  def answer(stage, configuration)
    stage.serve(configuration) { |_server, url| Net::HTTP.get(URI(url)) }
  end
end

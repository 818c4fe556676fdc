# frozen_string_literal: true

require "test_helper"

# A child that the app forks ends with the status that the app set, runs at_exit blocks as Ruby does, and runs nothing
# of the server: wherever the app forks, and whatever the child does.
class TestForkedChildren < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = "#{__dir__}/support/forks.ru"

  # What the app's child does => its exit status and the times that at_exit blocks ran.
  WAYS = { "return" => "0 1", "exit" => "7 1", "exit!" => "7 0", "raise" => "1 1", "sleep" => "7 1", "wait" => "7 1",
           "spawn" => "7 1" }.freeze

  def setup
    @socket = "#{@directory}/server.sock"
  end

  Serving::ENGINES.product([0, 2]).each do |engine, workers|
    define_method("test_a_fork_in_the_app_under_#{engine}_with_#{workers}_workers") do
      forking(engine, workers) do |process|
        %w[app fiber thread].product(WAYS.to_a).each do |place, (way, outcome)|
          assert_equal outcome, ask("/#{place}/#{way}"), "#{place}, #{way}"
          assert_serves process
        end
      end
    end

    define_method("test_a_fork_behind_the_response_under_#{engine}_with_#{workers}_workers") do
      forking(engine, workers) do |process|
        %w[callback close].product(%w[return exit]).each do |place, way|
          assert_equal "later", ask("/#{place}/#{way}")
          eventually("the child's end, once") { marks == "x" }
          FileUtils.rm(Dir["#{@directory}/ended.*"])
          assert_serves process
        end
      end
    end
  end

  private

  def marks = Dir["#{@directory}/ended.*"].map { |file| File.read(file) }.join

  def forking(engine, workers)
    threads = Cuttle::Engines.traits(engine).pooled? ? ["-t", "2:2"] : []
    flags = ["--engine", engine, "-w", workers.to_s, *threads, "-b", "unix://#{@socket}"]
    serving_process(APP, *flags, env: { "CUTTLE_GATES" => @directory }, forked: true) do |process|
      assert process.running?, process.err
      yield process
      assert_equal 0, process.stop.exitstatus, process.err
      refute_match(/cuttle: worker|worker \d/, process.err)
    end
  end

  def ask(path)
    WireClient.open(@socket) do |client|
      client.ask("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").body
    end
  end

  def assert_serves(process)
    assert_path_exists @socket
    assert_equal "hello", ask("/"), process.err
  end
end

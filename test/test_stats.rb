# frozen_string_literal: true

require "test_helper"
require "json"

# Cuttle.stats: what an app learns of its own process.
class TestStats < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = <<~RUBY
    run ->(env) {
      case env["PATH_INFO"]
      when "/child"
        reader, writer = IO.pipe
        Process.wait(fork { writer.write(Cuttle.stats.inspect); exit!(0) })
        writer.close
        [200, {}, [reader.read]]
      else
        [200, {}, [JSON.generate(Cuttle.stats)]]
      end
    }
  RUBY

  def setup
    File.write("#{@directory}/config.ru", "require 'json'\n#{APP}")
  end

  def test_outside_a_server
    assert_equal({}, Cuttle.stats)
    serving(->(_env) { [200, {}, [Cuttle.stats.inspect]] }) { |server| assert_equal "{}", get(server).body }
  end

  def test_the_only_process
    serving_process("#{@directory}/config.ru", "-t", "4", forked: true) do |process|
      2.times { get(process) }
      stats = JSON.parse(get(process).body)
      expected = { "pid" => process.pid, "max_threads" => 4, "busy_threads" => 1, "pool_capacity" => 3, "requests" => 3,
                   "requests_count" => 3, "backlog" => 0, "running" => 4, "auto_threads" => 0 }
      assert_equal expected, stats.slice(*expected.keys)
      assert_equal "{}", get(process, "/child").body, "a child that the app forked serves nothing"
    end
  end

  def test_a_worker
    serving_process("#{@directory}/config.ru", "-w", "1", forked: true) do |process|
      stats = JSON.parse(get(process).body)
      assert_equal [0, 1], stats.values_at("index", "requests_count")
      assert_equal 1, Process.kill(0, stats["pid"])
      refute_equal process.pid, stats["pid"]
    end
  end

  def test_every_engine
    { "single" => [1, 1, 0], "threads" => [3, 3, 0], "reactor" => [1, 1, 0], "hybrid" => [5, 5, 1],
      "fibers" => [1, 1024, 0] }
      .each do |engine, (threads, capacity, auto)|
        stats = nil
        app = ->(_env) { [200, {}, []] }
        serving(app, engine: engine) do |server|
          get(server)
          stats = eventually("rest") { Cuttle::Stats.of(server).then { |found| found if found[:busy_threads].zero? } }
        end
        assert_equal [threads, capacity, 1, auto],
                     stats.values_at(:max_threads, :pool_capacity, :requests_count, :auto_threads), engine
      end
  end

  def test_threads_auto
    serving(->(_env) { [200, {}, []] }, threads: "auto") do |server|
      assert_equal 1, Cuttle::Stats.of(server).fetch(:auto_threads)
    end
  end

  def test_without_a_limit_of_threads
    serving(->(_env) { [200, {}, []] }, engine: "threads", threads: 0) do |server|
      assert_equal [nil, nil], Cuttle::Stats.of(server).values_at(:max_threads, :pool_capacity)
    end
  end

  def test_in_a_ractor
    before = $VERBOSE
    $VERBOSE = nil # Ruby warns of ractors
    Cuttle::Stats.name # a ractor that is not the main one loads no code in Ruby 3.1
    ractor = Ractor.new { Cuttle.stats }
    assert_equal({}, ractor.respond_to?(:value) ? ractor.value : ractor.take)
  ensure
    $VERBOSE = before
  end
end

# frozen_string_literal: true

require "test_helper"
require_relative "../support/preload"

# Too many requests, and requests that are stuck, where there are workers.
class TestOverload < Minitest::Test
  include Serving
  include TemporaryDirectory

  # /hold stays in the app until the file that CUTTLE_GATE names exists, and / returns which process answers.
  APP = <<~RUBY
    run lambda { |env|
      case env["PATH_INFO"]
      when "/hold"
        $stderr.puts "entered"
        sleep 0.005 until File.exist?(ENV.fetch("CUTTLE_GATE"))
      when "/forever" then sleep
      when "/keep_the_gvl"
        require "fiddle"
        types = [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT]
        Fiddle::Function.new(Fiddle.dlopen(nil)["open"], types, Fiddle::TYPE_INT, need_gvl: true)
                        .call(ENV.fetch("CUTTLE_GATE"), File::RDONLY)
      end
      [200, {}, [Process.pid.to_s]]
    }
  RUBY
  CLOCK = File.expand_path("../support/clock/clock.c", __dir__)
  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  def setup
    @gate = "#{@directory}/gate"
    File.write("#{@directory}/config.ru", APP)
    @clients = []
  end

  def teardown
    @clients.each(&:close)
  end

  def test_a_worker_that_is_full_leaves_new_connections_to_one_that_is_free
    cluster("-w", "2", "-t", "1", "--max-queue", "1") do |process|
      both_workers(process)
      connect(process).write(ASK.sub("/", "/hold"))
      eventually("the app") { process.err.include?("entered") }
      eventually("twenty answers in a row") { (1..20).all? { answered?(process) } }
    end
  end

  def test_relays_leave_descriptors_to_the_server
    limited = ["sh", "-c", 'ulimit -n 40 && exec "$@"', "sh"]
    serving_process("#{@directory}/config.ru", "-w", "16", under: limited) do |process|
      assert_equal 200, get(process).status
    end
  end

  # Their clients do better to come back by the door. (With relays the free one may get their requests.)
  def test_a_worker_that_is_full_closes_what_it_refuses_where_another_is_free
    cluster("-w", "2", "-t", "1", "--max-queue", "1", "--no-relay") do |process|
      both_workers(process)
      holder, *others = clients_of_one_worker(process, 4)
      holder.write(ASK.sub("/", "/hold"))
      eventually("the app") { process.err.include?("entered") }
      others.each { |client| client.write(ASK) }
      refused = eventually("two refusals") { (found = others.select { |client| client.heard?(0) })[1] && found }
      refused.each { |client| assert_sent_away(client) }
      FileUtils.touch(@gate)
      [holder, *(others - refused)].each { |client| assert_equal 200, client.response.status }
    end
  end

  def test_a_worker_with_a_stuck_request_is_replaced
    %w[hybrid reactor fibers].each do |engine|
      cluster("-w", "2", "--engine", engine, "--app-timeout", "0.3") do |process|
        before = process.workers
        assert_equal 503, get(process, "/forever").status
        eventually("the next worker") { process.err.include?("the next one starts now") }
        eventually("two workers") { process.workers.length == 2 && process.workers != before }
        assert_match(/^cuttle: "GET \/forever" has been stuck .* is at\n(\t.*\n)*\t.*config.ru:\d+:in .*\n/,
                     process.err)
        assert_match(/^cuttle: worker \d \(pid \d+\) ended for a request that was stuck, the next one starts now$/,
                     process.err)
        10.times { assert_equal 200, get(process).status }
        assert process.stop("TERM").success?
      end
    end
  end

  # Its only thread is gone: requests that wait behind it are answered nevertheless.
  def test_nothing_that_waits_is_lost_where_every_thread_is_stuck
    cluster("-w", "1", "-t", "1", "--app-timeout", "0.3", "--max-queue", "10") do |process|
      stuck = connect(process).write(ASK.sub("/", "/forever"))
      waiting = Array.new(3) { connect(process).write(ASK) }
      assert_equal 503, stuck.response.status
      waiting.each { |client| assert_includes [200, 503], client.response.status }
      eventually("a worker that serves") { get(process).status == 200 }
    end
  end

  # Such as a regular expression that never ends; here opening a FIFO, until it is opened for writing. The backtrace has
  # to wait.
  def test_a_request_that_keeps_the_gvl_is_answered_for
    require "fiddle"
    cluster("-w", "0", "--app-timeout", "0.3") do |process|
      File.mkfifo(@gate)
      assert_equal 503, get(process, "/keep_the_gvl").status
      File.open(@gate, "w").close
      assert_equal 200, get(process).status
    end
  rescue LoadError
    skip "needs fiddle"
  end

  # Time limits are kept by the io thread, which waits on a condition.
  def test_a_clock_that_is_set_back_delays_no_time_limit
    skip "no Linux, or no compiler, for a clock to play with" unless Preload.library(CLOCK)
    serving_process("#{@directory}/config.ru", "-t", "1", "--app-timeout", "0.3", "--drain-grace", "0.5",
                    env: Preload.env(CLOCK)) do |process|
      assert_equal 503, get(process, "/forever").status
    end
  end

  private

  def cluster(*flags, &block)
    serving_process("#{@directory}/config.ru", *flags, "--drain-grace", "0.5",
                    env: { "CUTTLE_GATE" => @gate }, forked: true) do |process|
      block.call(process)
    ensure
      FileUtils.touch(@gate)
    end
  ensure
    FileUtils.rm_f(@gate)
  end

  def connect(process)
    WireClient.new(process.port).tap { |client| @clients << client }
  end

  # A worker that is not there yet is not free.
  def both_workers(process)
    pids = []
    eventually("both workers") { (pids << connect(process).ask(ASK).body).uniq.length == 2 }
  end

  # Whether a new connection is answered by the worker that is free. On a busy machine that one may sleep for so long
  # that the other one accepts after all: the request then waits there, or is refused.
  def answered?(process)
    WireClient.open(process.port) { |client| client.write(ASK).heard?(5) && client.response.status == 200 }
  end

  def clients_of_one_worker(process, count)
    found = Hash.new { |hash, pid| hash[pid] = [] }
    eventually("#{count} connections to one worker") do
      client = connect(process)
      found[client.ask(ASK).body] << client
      found.each_value.find { |clients| clients.length == count }
    end
  end

  def assert_sent_away(client)
    response = client.response
    assert_equal 503, response.status
    assert_predicate response, :close?
    assert_equal :closed, client.ending
  end
end

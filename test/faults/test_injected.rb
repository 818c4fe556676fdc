# frozen_string_literal: true

require "test_helper"
require_relative "support/strace"

# System calls that fail in a running server, injected by strace, under an engine of each side of the core. In each case
# the server continues to serve, honest clients are answered, a shortage is reported once, and nothing spins.
#
# Results that no kernel gives are not injected: a write that reports octets which it did not take, or, to an
# edge-triggered epoll, that a socket is not ready although it was reported and stayed ready.
class TestInjected < Minitest::Test
  include Serving
  include TemporaryDirectory

  ENGINES = { "hybrid" => %w[-t 2], "threads" => %w[-t 2] }.freeze
  CLIENTS = 6
  CPU = 4 # seconds of processor time, most of them strace's doing
  SHORTAGE = /no connection can be accepted/

  APP = <<~RUBY
    run lambda { |env|
      body = env["rack.input"]&.read.to_s
      [200, { "content-type" => "text/plain" }, ["\#{env["PATH_INFO"]} \#{body.bytesize} ", "x" * 30_000]]
    }
  RUBY

  # By name: system calls, what to inject, and how many lines about it at most. Counts are each thread's own.
  FAULTS = {
    "accept_without_descriptors" => ["accept4", "error=EMFILE:when=1..3", 1],
    "accept_in_a_system_without_descriptors" => ["accept4", "error=ENFILE:when=1..2", 1],
    "accept_without_memory" => ["accept4", "error=ENOMEM:when=1..2", 1],
    "accept_that_fails_now_and_then" => ["accept4", "error=EMFILE:when=1+2", 1],
    "accept_of_a_connection_that_has_gone" => ["accept4", "error=ECONNABORTED:when=1+2", 0],
    "accept_of_a_connection_that_failed" => ["accept4", "error=EPROTO:when=1+2", 0],
    "accept_that_is_interrupted" => ["accept4", "error=EINTR:when=1+2", 0],
    "accept_for_which_another_was_faster" => ["accept4", "error=EAGAIN:when=1+2", 0],
    "reads_and_writes_that_are_interrupted" => ["read,write,writev,recvfrom,sendto", "error=EINTR:when=1+2", 0],
    "waits_that_are_interrupted" => ["epoll_wait,poll,ppoll,select,pselect6", "error=EINTR:when=1+2", 0]
  }.freeze

  def setup
    skip Strace.lack if Strace.lack
    File.write("#{@directory}/config.ru", APP)
  end

  ENGINES.each_key do |engine|
    FAULTS.each do |name, (calls, fault, lines)|
      define_method("test_#{name}_under_#{engine}") do
        serve(engine) do |server|
          injected = Strace.inject(server.pid, calls, fault) { assert_clients_answered server }
          assert_operator injected, :>, 0, "nothing was injected"
          assert_operator server.err.scan(SHORTAGE).size, :<=, lines, server.err
          assert_clients_answered server
        end
      end
    end
  end

  # With a back end that asks again: the edge-triggered one hears of a socket once.
  { "hybrid" => { "CUTTLE_BACKEND" => "poll" }, "threads" => {} }.each do |engine, env|
    define_method("test_reads_and_writes_that_would_wait_under_#{engine}") do
      serve(engine, env: env) do |server|
        injected = Strace.inject(server.pid, "read,writev", "error=EAGAIN:when=1+2") { assert_clients_answered server }
        assert_operator injected, :>, 0, "nothing was injected"
      end
    end
  end

  # The listener returns to the back end after a shortage, and there is no memory for it yet. (One thread, so that the
  # second call is that one, and no call that the system never refuses.)
  def test_a_listener_that_can_not_be_registered
    serve("reactor") do |server|
      faults = ["accept4:error=EMFILE:when=1", "epoll_ctl:error=ENOMEM:when=2"]
      assert_equal(2, Strace.inject(server.pid, "accept4,epoll_ctl", faults) { assert_clients_answered server })
      assert_clients_answered server
    end
  end

  # A connection that can't be registered ends; the others don't notice.
  def test_a_connection_that_can_not_be_registered
    serve("hybrid") do |server|
      Strace.inject(server.pid, "epoll_ctl", "error=ENOMEM:when=1") do
        answers = Array.new(CLIENTS) { |number| ask(server, number)&.status }
        assert_operator answers.compact.size, :>=, CLIENTS - 3, server.err # once for each thread
        assert_equal [200], answers.compact.uniq
      end
      assert_clients_answered server
    end
  end

  # Bodies that can't be kept are refused, and only those.
  ENGINES.each_key do |engine|
    { "no_disk" => {}, "no_directory" => { "TMPDIR" => "/nonexistent" } }.each do |name, env|
      define_method("test_bodies_with_#{name}_under_#{engine}") do
        small_files(env.empty?) do
          serve(engine, env: env, forked: false) do |server| # it inherits this process's limit
            answer = post(server, 300_000)
            assert_includes [nil, 500, 503, 507], answer&.status
            assert_equal "/ 1000 ", post(server, 1_000).body[0, 7]
            assert_clients_answered server
          end
        end
      end
    end
  end

  private

  def serve(engine, env: {}, forked: true)
    args = ["--engine", engine, *ENGINES.fetch(engine, [])]
    serving_process("config.ru", *args, env: env, chdir: @directory, forked: forked) do |server|
      before = CpuTime.seconds(server.pid)
      yield server
      assert server.running?, server.err
      assert_operator CpuTime.seconds(server.pid) - before, :<, CPU, "seconds of processor time"
      assert_equal 0, server.stop.exitstatus, server.err
    end
  end

  # Some at once, each with two requests.
  def assert_clients_answered(server)
    clients = Array.new(CLIENTS) do |number|
      Thread.new { Array.new(2) { |again| ask(server, number, close: again == 1)&.body.to_s[/\A\S+ \d+/] } }
    end
    expected = Array.new(CLIENTS) { |number| ["/#{number} 0"] * 2 }
    assert_equal expected, clients.map(&:value), server.err
  end

  def ask(server, number, close: true)
    fields = close ? "Connection: close\r\n" : ""
    client(server, timeout: PATIENCE) do |client|
      client.write("GET /#{number} HTTP/1.1\r\nHost: a\r\n#{fields}\r\n").response
    end
  end

  def post(server, size)
    request(server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{size}\r\n\r\n#{"x" * size}", timeout: PATIENCE)
  end

  # No file grows beyond 100,000 octets, in servers that start meanwhile: as with a full disk, a write fails.
  def small_files(limited)
    return yield unless limited

    before = trap("XFSZ", "IGNORE")
    limits = Process.getrlimit(:FSIZE)
    Process.setrlimit(:FSIZE, 100_000, limits.last)
    yield
  ensure
    Process.setrlimit(:FSIZE, *limits) if limits
    trap("XFSZ", before) if before
  end
end

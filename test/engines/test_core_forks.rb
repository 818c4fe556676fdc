# frozen_string_literal: true

require "test_helper"
require "fcntl"
require "open3"

# A child that is forked while a server runs has the memory of the core's threads, and none of these threads. What it
# collects there must not wait for them.
class TestCoreForks < Minitest::Test
  include Serving

  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  LARGE = "x" * 3_000_000

  # A client that reads nothing makes the thread of the spooler.
  def test_a_child_collects_the_core_of_its_parent
    app = ->(_env) { [200, {}, Enumerator.new { |body| 30.times { body << LARGE } }] }
    serving(app, engine: "hybrid", threads: 2) do |server|
      client(server) do |slow|
        slow.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the spooler's thread") { Dir["/proc/self/task/*"].length > Thread.list.length + 1 }
        10.times { assert_ends fork { collect(server) } }
      end
    end
  end

  # Forks among what is left of connections and sources. In a process of its own, for a collection takes twenty times as
  # long in one that has loaded the tests. Prints the exit statuses of the children.
  GARBAGE = <<~'RUBY'
    require "cuttle"
    require "rack"
    server = Cuttle::Server.new(->(_env) { [200, {}, []] }, core: "pure", engine: ARGV.fetch(0)).start
    port = server.url[/\d+\z/].to_i
    100.times do |number|
      TCPSocket.open("127.0.0.1", port) do |socket|
        socket.write("GET /#{number} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        socket.read
      end
    end
    100.times { server.instance_variable_get(:@source).class.new([TCPServer.new("127.0.0.1", 0)]) }
    20.times do
      GC.start(full_mark: true, immediate_sweep: false)
      Array.new(20_000) { Object.new }.clear
      puts Process.wait2(fork { exit!(7) }).last.exitstatus.inspect
    end
    server.stop
  RUBY

  # On Ruby 3.1 a weak list showed other objects in the places of the collected ones.
  def test_a_child_takes_no_other_object_for_one_of_the_core_in_ruby
    %w[single hybrid].each do |engine|
      said, status = Open3.capture2e(*ServingProcess.ruby, "-e", GARBAGE, engine)
      assert_predicate status, :success?, said
      assert_equal ["7"] * 20, said.lines(chomp: true), engine
    end
  end

  # It stopped half of the parent's: kept connections ended, and the accepting thread waited no more.
  Serving::ENGINES.each do |engine|
    define_method("test_a_child_that_stops_its_copy_under_#{engine}") do
      serving(->(_env) { [200, {}, ["hello"]] }, engine: engine, keep_alive: true) do |server|
        WireClient.open(server.port) do |kept|
          assert_equal "hello", kept.ask(ASK).body
          assert_ends(fork { server.stop_soon.then { exit!(7) } })
          assert_equal :open, kept.ending(0.3)
          assert_equal "hello", kept.ask(ASK).body
        end
      end
    end
  end

  # Its child used connections whose memory had been freed.
  def test_a_child_that_collects_connections_and_forks
    with_connections do |connections|
      assert_ends(fork do
        connections.clear
        eventually("collected connections") { GC.start || ObjectSpace.each_object(Cuttle::Connection).count < 10 }
        exit!(Process.wait2(fork { exit!(7) }).last.exitstatus || 1)
      end)
    end
  end

  # A source that was not stopped remembered the number of a listener that Ruby had closed, and the child took the
  # listener away that had the number then.
  [Cuttle::Poller, Cuttle::Acceptor].each do |source|
    define_method("test_a_child_keeps_a_listener_with_the_number_of_a_closed_one_of_#{source}") do
      closed, other = Array.new(2) { TCPServer.new("127.0.0.1", 0) }
      number = closed.fileno
      unstopped = source.new([closed], env: {})
      closed.close
      listener = Socket.for_fd(other.fcntl(Fcntl::F_DUPFD, number))
      assert_equal number, listener.fileno
      assert_ends(fork { exit!(listens?(listener) ? 7 : 1) })
    ensure
      unstopped&.stop
      [other, listener].each { |socket| socket&.close }
    end
  end

  private

  # Yields a queue of 100 connections without a request. Nothing else refers to them.
  def with_connections
    TCPServer.open("127.0.0.1", 0) do |listener|
      acceptor = Cuttle::Acceptor.new([listener], env: {})
      clients = Array.new(100) { TCPSocket.new("127.0.0.1", listener.local_address.ip_port) }
      connections = Queue.new
      Thread.new { 100.times { connections << acceptor.accept } }.join # what a stack refers to is not collected
      yield connections
    ensure
      clients&.each(&:close)
    end
  end

  def listens?(socket)
    socket.getsockopt(:SOCKET, :ACCEPTCONN).bool
  rescue SystemCallError
    false
  end

  def collect(server)
    %i[@engine @source].each { |part| server.instance_variable_set(part, nil) }
    3.times { GC.start }
    exit!(7)
  end

  def assert_ends(pid)
    status = nil
    eventually("the child's end") { status = Process.wait2(pid, Process::WNOHANG)&.last }
    assert_equal 7, status.exitstatus
  ensure
    Process.kill("KILL", pid) && Process.wait(pid) unless status
  end
end

# frozen_string_literal: true

require "test_helper"

# CPU time, memory and switches of processes that do a known amount of each.
class TestLabProcessTree < Minitest::Test
  include Eventually

  # Burns its thread's CPU time in a thread that ends, so that what ended is shown to count; says what it used, and
  # waits.
  BURN = <<~RUBY
    $stdout.sync = true
    burn = lambda do |seconds|
      Thread.new do
        finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
        nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
      end.join
    end
  RUBY

  def test_cpu_time_of_threads_that_ended
    code = "#{BURN} burn[0.2]; puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID); gets"
    with_ruby(code) do |tree, output|
      said = Float(output.gets)
      assert_operator said, :>=, 0.2
      assert_in_delta said, tree.cpu_seconds, 0.02
    end
  end

  def test_cpu_time_of_children_that_live_and_that_ended
    program = "#{BURN} Process.wait(fork { burn[0.2] }); fork { burn[0.2]; puts :ready; sleep }; sleep"
    with_ruby(program) do |tree, output|
      assert_equal "ready", output.gets.chomp
      assert_equal 2, tree.pids.size
      assert_operator tree.cpu_seconds, :>=, 0.38
    end
  end

  def test_a_process_that_is_no_part_of_the_server_is_left_out
    with_ruby("sleep") do |tree, _|
      stranger = Process.spawn("sleep", "60")
      assert_includes tree.pids, stranger
      tree.leave_out(stranger)
      refute_includes tree.pids, stranger
    ensure
      Process.kill(:KILL, stranger)
      Process.wait(stranger)
    end
  end

  def test_a_daemon_that_left_its_family_counts_where_orphans_are_adopted
    program = "#{BURN} Process.wait(fork { fork { Process.setsid; burn[0.2]; puts :ready; sleep } }); sleep"
    adopting = <<~RUBY
      $LOAD_PATH.unshift #{File.expand_path("../../../lib", __dir__).inspect}
      require "cuttle"
      Cuttle::Load::Orphans.adopt
      io = IO.popen([RbConfig.ruby, "--disable-gems", "-e", #{program.inspect}], pgroup: true)
      tree = Cuttle::Lab::Servers::ProcessTree.new(io.pid)
      io.gets
      puts tree.pids.size, tree.cpu_seconds
      tree.pids.each { |pid| Process.kill(:KILL, pid) }
    RUBY
    size, seconds = IO.popen([RbConfig.ruby, "-e", adopting], &:readlines)
    assert_equal 2, Integer(size)
    assert_operator Float(seconds), :>=, 0.2
  end

  def test_voluntary_switches_grow_with_every_sleep
    with_ruby("$stdout.sync = true; puts :ready; gets; 100.times { sleep 0.001 }; puts :done; gets") do |tree, output|
      output.gets
      before = tree.voluntary_switches
      output.puts
      output.gets
      assert_operator tree.voluntary_switches - before, :>=, 100
    end
  end

  # Those of one thread, read when it waits for its next work.
  def test_switches_of_a_thread_at_rest
    program = <<~RUBY
      $stdout.sync = true
      work = Queue.new
      named = Thread.new do
        Thread.current.name = "a worker"
        while work.pop
          10.times { sleep 0.001 }
          puts :done
        end
      end
      work << true
      nil while gets && work << true
    RUBY
    with_ruby(program) do |tree, output|
      output.gets
      task = tree.tasks(tree.leader, /\Aa worker\z/).first
      before = tree.switches_at_rest(task)
      output.puts
      output.gets
      assert_includes 11..25, tree.switches_at_rest(task) - before
      assert_empty tree.tasks(tree.leader, /none/)
      assert_nil tree.switches_at_rest("/proc/0/task/0")
    end
  end

  def test_memory_that_was_written_to_counts
    code = "$stdout.sync = true; puts :ready; gets; kept = 'x' * 20_000_000; puts :done; gets; kept"
    with_ruby(code) do |tree, output|
      output.gets
      before = [tree.anonymous, pss(tree), tree.rss]
      output.puts
      output.gets
      [tree.anonymous, pss(tree), tree.rss].zip(before) do |now, then_|
        assert_in_delta 20_000_000 / 1024, now - then_, 2_000
      end
    end
  end

  def test_a_process_that_ended_has_nothing
    pid = Process.spawn("true")
    Process.wait(pid)
    assert_empty Cuttle::Lab::Servers::ProcessTree.new(pid).pids
    assert_equal 0, Cuttle::Lab::Servers::ProcessTree.new(pid).cpu_seconds
  end

  # As a server does in the middle of its end: its sockets are open as long as one thread is left.
  def test_a_process_whose_first_thread_has_ended_still_counts
    skip "needs Linux's exit of one thread" unless RUBY_PLATFORM.match?(/x86_64-linux/)

    program = <<~RUBY
      other = Thread.new { sleep }
      Thread.pass until other.stop?
      $stdout.write("ready\n") && $stdout.flush
      syscall(60, 0) # exit: ends the thread that calls it
    RUBY
    with_ruby(program) do |tree, output|
      output.gets
      eventually("its first thread's end") { File.read("/proc/#{tree.leader}/stat")[/\) (\S)/, 1] == "Z" }
      assert_equal [tree.leader], tree.pids
      Process.kill(:KILL, tree.leader)
      eventually("its end") { tree.pids.empty? }
    end
  end

  def test_threads_children_and_listeners
    program = <<~RUBY
      require "socket"
      $stdout.sync = true
      server = TCPServer.new("127.0.0.1", 0)
      named = Thread.new { Thread.current.name = "a name"; sleep }
      Thread.pass until named.status == "sleep"
      fork { sleep }
      puts server.addr[1]
      gets
    RUBY
    with_ruby(program) do |tree, output|
      port = Integer(output.gets)
      assert_includes tree.threads[tree.leader], "a name"
      assert_equal tree.pids - [tree.leader], tree.children
      assert_equal tree.pids.sort, tree.listeners(port).sort
      assert_empty tree.listeners(1)
    end
  end

  # Each of them has a connection: the kernel lists what listens before all connections.
  def test_sockets_that_listen_are_found_among_connections
    servers = ["127.0.0.1", *("::1" if ipv6?)].product([0] * 5).map { |address| TCPServer.new(*address) }
    clients = servers.map { |server| TCPSocket.new(server.addr[3], server.addr[1]) }
    inodes = servers.map { |server| File.readlink("/proc/self/fd/#{server.fileno}") }
    listening = Cuttle::Lab::Servers::ProcessTree.listening
    assert_empty inodes - listening
    assert_empty clients.map { |client| File.readlink("/proc/self/fd/#{client.fileno}") } & listening
  ensure
    [*clients, *servers].each(&:close)
  end

  # Those in the backlog belong to no process yet.
  def test_connections_that_were_accepted
    tree = Cuttle::Lab::Servers::ProcessTree
    TCPServer.open("127.0.0.1", 0) do |server|
      client = TCPSocket.new("127.0.0.1", server.addr[1])
      assert_empty tree.accepted(server.addr[1])
      socket = server.accept
      assert_equal [File.readlink("/proc/self/fd/#{socket.fileno}")], tree.accepted(server.addr[1])
    ensure
      [client, socket].compact.each(&:close)
    end
  end

  private

  def ipv6? = Socket.ip_address_list.any?(&:ipv6_loopback?)

  # In kilobytes, of all processes.
  def pss(tree)
    tree.pss.values.sum / 1024
  end

  # Runs a program that is ready when it has printed a line; everything it started is ended afterwards.
  def with_ruby(program)
    io = IO.popen([RbConfig.ruby, "--disable-gems", "-e", program], "r+", pgroup: true)
    io.sync = true
    tree = Cuttle::Lab::Servers::ProcessTree.new(io.pid)
    yield tree, io
  ensure
    tree.pids.each { |pid| Process.kill(:KILL, pid) }
    io.close
    eventually("the end of its children") { tree.pids.empty? }
  end
end

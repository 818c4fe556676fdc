# frozen_string_literal: true

require "test_helper"

# Listening sockets that a process gets from the program that it was before an exec.
class TestInherited < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Listens on the URIs of its arguments before "--", then becomes the command after it. Says where it listens.
  BEFORE = <<~'RUBY'
    require "cuttle"
    uris = ARGV.take_while { |argument| argument != "--" }
    listeners = Cuttle::Listeners.open(uris)
    File.write(ENV.fetch("BEFORE"), listeners.uris.join("\n"))
    listeners.keep_over_exec { exec(listeners.inheritance, *ARGV.drop(uris.length + 1)) }
  RUBY

  APP = "run ->(_env) { [200, {}, [ENV.key?('CUTTLE_LISTENERS').inspect]] }"

  def setup
    @path = "#{@directory}/socket"
    File.write("#{@directory}/config.ru", APP)
  end

  def test_a_server_listens_on_the_sockets_of_its_predecessor
    restarted(%W[tcp://127.0.0.1:0 unix://#{@path}]) do |process, before|
      assert_equal before, process.uris
      assert_equal "false", get(process).body # and the app has no variable to pass on
      UNIXSocket.open(@path) { |socket| assert_equal "HTTP/1.1 200 OK", ask(socket) }
      assert_equal "", process.err
      assert process.stop.success?
      refute_path_exists @path
    end
  end

  def test_a_name_without_a_file
    uri = "unix://@cuttle-#{Process.pid}"
    restarted([uri], "-w", "1") do |process, before|
      assert_equal [uri], before
      assert_equal [uri], process.uris
      UNIXSocket.open(uri.sub("unix://@", "\0")) { |socket| assert_equal "HTTP/1.1 200 OK", ask(socket) }
      assert_equal "", process.err
      assert process.stop.success?
    end
  end

  def test_workers_do_too
    restarted(%w[tcp://127.0.0.1:0], "-w", "1") do |process, before|
      assert_equal before, process.uris
      assert_equal "false", get(process).body
    end
  end

  # A client that connects between two servers waits for the second.
  def test_nobody_is_refused
    old = Cuttle::Listeners.open(%W[tcp://127.0.0.1:0 unix://#{@path}])
    clients = [TCPSocket.new("127.0.0.1", old.port), UNIXSocket.new(@path)]
    inode = File.stat(@path).ino
    listeners = succeed(old, %W[tcp://127.0.0.1:0 unix://#{@path}])
    assert_equal old.uris, listeners.uris
    assert_equal inode, File.stat(@path).ino
    assert_equal(clients.map { |client| client.local_address.inspect_sockaddr },
                 listeners.sockets.map { |socket| accepted_from(socket) })
    listeners.close
    refute_path_exists @path
  ensure
    clients&.each(&:close)
  end

  def test_every_address_of_a_name
    old = Cuttle::Listeners.open(%w[tcp://localhost:0 tcp://localhost:0])
    listeners = succeed(old, %w[tcp://localhost:0 tcp://localhost:0])
    assert_equal old.uris, listeners.uris
  ensure
    listeners&.close
  end

  def test_what_is_new_is_opened_and_what_is_gone_is_closed
    old = Cuttle::Listeners.open(%W[tcp://127.0.0.1:0 unix://#{@path}])
    listeners = succeed(old, ["tcp://[::1]:#{old.port}", "unix://#{@path}2"])
    assert_equal ["http://[::1]:#{old.port}", "unix://#{@path}2"], listeners.uris
    assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", old.port) }
    refute_path_exists @path
  ensure
    listeners&.close
  end

  def test_a_socket_for_another_purpose
    old, other = Array.new(2) { Cuttle::Listeners.open(%w[tcp://127.0.0.1:0]) }
    inherited = Cuttle::Listeners::Inherited.take(copied(old.with(other, "control")), report: ->(line) { flunk(line) })
    parted = inherited.part("control")
    listeners = [inherited, parted].map { |each| Cuttle::Listeners.open(%w[tcp://127.0.0.1:0], inherited: each) }
    assert_equal [old.uris, other.uris], listeners.map(&:uris)
  ensure
    [*listeners, other].compact.each(&:close)
  end

  # The old socket would be in the way, and so would another program's at 127.0.0.2.
  def test_one_address_takes_the_place_of_another
    free_everywhere = TCPServer.open("0.0.0.0", 0) { |server| server.local_address.ip_port }
    old = Cuttle::Listeners.open(["tcp://127.0.0.1:#{free_everywhere}"])
    listeners = succeed(old, ["tcp://0.0.0.0:#{old.port}"])
    assert_equal ["http://0.0.0.0:#{old.port}"], listeners.uris
    TCPSocket.new("127.0.0.1", old.port).close
  ensure
    listeners&.close
  end

  def test_options_may_change
    old = Cuttle::Listeners.open(["tcp://127.0.0.1:0", "unix://#{@path}?mode=0600"])
    listeners = succeed(old, ["tcp://127.0.0.1:0?backlog=5&proxy_protocol=true", "unix:#{@path}?mode=0606"])
    assert_equal old.uris, listeners.uris
    assert_equal 5, listeners.sockets.first.getsockopt(:TCP, :INFO).data.unpack("x8L6").last
    assert_equal 0o606, File.stat(@path).mode & 0o777
    assert_equal [true, false], listeners.proxy_protocols(false)
  ensure
    listeners&.close
  end

  # Another spelling of the same address.
  def test_the_address_counts
    old = Cuttle::Listeners.open(%w[tcp://localhost:0])
    first = old.sockets.first.local_address
    listeners = succeed(old, ["tcp://#{first.inspect_sockaddr}"])
    assert_equal old.uris.first, listeners.uris.first
  ensure
    listeners&.close
  end

  def test_a_file_that_somebody_removed_is_made_again
    old = Cuttle::Listeners.open(["unix://#{@path}"])
    File.unlink(@path)
    listeners = succeed(old, ["unix://#{@path}"])
    UNIXSocket.new(@path).close
    listeners.close
    refute_path_exists @path
  end

  def test_a_relative_path_is_that_of_the_working_directory
    Dir.mkdir("#{@directory}/next")
    old = Dir.chdir(@directory) { Cuttle::Listeners.open(["unix://socket"]) }
    listeners = Dir.chdir("#{@directory}/next") { succeed(old, ["unix://socket"]) }
    assert_equal ["unix://#{@directory}/next/socket"], listeners.uris
    refute_path_exists @path
  ensure
    listeners&.close
  end

  def test_all_are_closed_where_one_can_not_be_opened
    old = Cuttle::Listeners.open(%W[tcp://127.0.0.1:0 unix://#{@path}])
    assert_raises(Cuttle::Error) { succeed(old, ["unix://#{@path}", "unix:///no/such/directory/s"]) }
    assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", old.port) }
    refute_path_exists @path
  end

  def test_what_is_no_listening_socket_is_ignored
    pair = UNIXSocket.pair
    File.open(@path, "w") do |file|
      lines = ["99999 - tcp://127.0.0.1:1", "#{file.fileno} - tcp://127.0.0.1:2", "#{pair[0].fileno} - unix:///x", "x"]
      listeners, said = take([Process.pid, *lines])
      assert_equal(lines.map { |line| "CUTTLE_LISTENERS: no listening stream socket, ignored: #{line}" }, said)
      listeners.close
      refute_predicate file, :closed?
      pair[0].write("still open")
    end
  ensure
    pair&.each(&:close)
  end

  def test_what_is_for_another_process_is_ignored
    old = Cuttle::Listeners.open(%w[tcp://127.0.0.1:0])
    [Process.ppid.to_s, "x", ""].each do |process|
      variables = { "CUTTLE_LISTENERS" => old.inheritance.values.first.sub(/\A\d+/, process) }
      said = []
      Cuttle::Listeners::Inherited.take(variables, report: said.method(:push)).close
      assert_empty variables
      assert_equal ["CUTTLE_LISTENERS is for process #{process}, not for this one (#{Process.pid}): ignored"], said
    end
    TCPSocket.new("127.0.0.1", old.port).close
  ensure
    old&.close
  end

  def test_a_process_without_a_predecessor
    said = []
    inherited = Cuttle::Listeners::Inherited.take({}, report: said.method(:push))
    open(inherited) { |listeners| TCPSocket.new("127.0.0.1", listeners.port).close }
    assert_empty said
  end

  # Neither a child of the app nor the program after an exec that failed gets them.
  def test_they_stay_open_over_no_other_exec
    old = Cuttle::Listeners.open(%w[tcp://127.0.0.1:0])
    assert_raises(Errno::ENOENT) { old.keep_over_exec { exec("/no/such/program") } }
    assert(old.sockets.all?(&:close_on_exec?))
    listeners = succeed(old, %w[tcp://127.0.0.1:0])
    assert(listeners.sockets.all?(&:close_on_exec?))
  ensure
    listeners&.close
  end

  def test_a_child_closes_its_copies_and_leaves_the_file
    open(nil, "unix://#{@path}") do |listeners|
      listeners.close_copies
      assert(listeners.sockets.all?(&:closed?))
      assert_path_exists @path
    end
  end

  # A child that only tries whether it could serve.
  def test_sockets_that_are_borrowed
    open(nil, "unix://#{@path}?mode=0600") do |listeners|
      variables = copied(listeners.copy)
      pid = fork { exit!(borrow(variables, "unix://#{@path}?mode=0606") == listeners.uris ? 0 : 1) }
      assert_predicate Process.wait2(pid).last, :success?
      assert_equal 0o600, File.stat(@path).mode & 0o777
      UNIXSocket.new(@path).close
    end
    refute_path_exists @path
  end

  def test_a_forked_child_leaves_the_files_of_its_parent
    inherited = Cuttle::Listeners::Inherited.take(copied(Cuttle::Listeners.open(["unix://#{@path}"])), report: nil)
    Process.wait(fork { inherited.close && exit!(0) })
    UNIXSocket.new(@path).close
    inherited.close
    refute_path_exists @path
  end

  private

  # A server whose process was another program before, which listened on +uris+. Yields the server and the listeners.
  def restarted(uris, *arguments)
    binds = uris.flat_map { |uri| ["-b", uri] }
    serve = [*ServingProcess::RUBY, "--disable=gems", *ServingProcess::PATHS.map { |path| "-I#{path}" },
             "#{ROOT}/exe/cuttle", "serve", *binds, *arguments]
    process = ServingProcess.new(["-e", BEFORE, "--", *uris, "--", *serve],
                                 env: { "BEFORE" => "#{@directory}/before" }, chdir: @directory)
    process.wait_until_ready
    yield process, File.read("#{@directory}/before").lines(chomp: true)
  ensure
    process&.finish
  end

  # The listeners that this process has on +uris+ as if an exec had come after +old+.
  def succeed(old, uris)
    inherited = Cuttle::Listeners::Inherited.take(copied(old), report: ->(line) { flunk(line) })
    Cuttle::Listeners.open(uris, inherited: inherited)
  end

  # The URIs of a process that borrows the sockets of its parent, and stops.
  def borrow(variables, uri)
    inherited = Cuttle::Listeners::Inherited.take(variables, report: method(:raise), borrowed: true)
    listeners = Cuttle::Listeners.open([uri], inherited: inherited)
    listeners.close
    listeners.uris
  end

  # As an exec has it: the descriptors are there, and nothing of Ruby's that closes them.
  def copied(old)
    variables = old.inheritance
    old.sockets.each { |socket| socket.autoclose = false }
    variables
  end

  def take(lines)
    said = []
    inherited = Cuttle::Listeners::Inherited.take({ "CUTTLE_LISTENERS" => lines.join("\n") },
                                                  report: said.method(:push))
    [inherited, said]
  end

  def open(inherited, uri = "tcp://127.0.0.1:0")
    listeners = Cuttle::Listeners.open([uri], inherited: inherited)
    yield listeners
  ensure
    listeners&.close
  end

  # The address of the client that waits on +socket+.
  def accepted_from(socket)
    client = socket.accept
    client.remote_address.inspect_sockaddr
  ensure
    client&.close
  end

  def ask(socket)
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    socket.gets("\r\n").chomp
  end
end

# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class TestListeners < Minitest::Test
  include Eventually

  def test_a_free_port_is_chosen_and_named
    open("tcp://127.0.0.1:0") do |listeners|
      assert_equal ["http://127.0.0.1:#{listeners.port}"], listeners.uris
      TCPSocket.new("127.0.0.1", listeners.port).close
    end
  end

  def test_ipv6
    open("tcp://[::1]:0") do |listeners|
      assert_equal ["http://[::1]:#{listeners.port}"], listeners.uris
      TCPSocket.new("::1", listeners.port).close
    end
  end

  def test_every_interface_of_both_families
    open("tcp://[::]:0") do |listeners|
      TCPSocket.new("127.0.0.1", listeners.port).close
      TCPSocket.new("::1", listeners.port).close
    end
  end

  def test_a_name_listens_on_each_of_its_addresses_at_one_port
    open("tcp://localhost:0") do |listeners|
      addresses = Addrinfo.getaddrinfo("localhost", nil, nil, :STREAM).map(&:ip_address).uniq
      addresses &= Socket.ip_address_list.map(&:ip_address)
      assert_equal addresses.sort, listeners.sockets.map { |socket| socket.local_address.ip_address }.sort
      assert_equal [listeners.port], listeners.sockets.map { |socket| socket.local_address.ip_port }.uniq
    end
  end

  def test_a_port_can_be_had_again_at_once
    port = open("tcp://127.0.0.1:0") do |listeners|
      client = TCPSocket.new("127.0.0.1", listeners.port)
      listeners.sockets.first.accept.close # this side closes first, and keeps TIME_WAIT
      client.close
      listeners.port
    end
    open("tcp://127.0.0.1:#{port}") { |listeners| assert_equal port, listeners.port }
  end

  def test_a_port_in_use
    open("tcp://127.0.0.1:0") do |listeners|
      assert_refused "tcp://127.0.0.1:#{listeners.port}", "the port is in use"
    end
  end

  def test_an_address_of_another_machine_and_an_unknown_name
    assert_refused "tcp://192.0.2.1:0", "this machine has no address 192.0.2.1"
    assert_refused "tcp://name.invalid:0", "no address is known for name.invalid"
  end

  def test_all_or_none
    open("tcp://127.0.0.1:0") do |taken|
      free = open("tcp://127.0.0.1:0", &:port)
      assert_raises(Cuttle::Error) do
        Cuttle::Listeners.open(["tcp://127.0.0.1:#{free}", "tcp://127.0.0.1:#{taken.port}"])
      end
      assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", free) }
    end
  end

  def test_a_unix_socket_and_its_file
    in_directory do |path|
      open("unix://#{path}") do |listeners|
        assert_equal ["unix://#{path}"], listeners.uris
        assert_nil listeners.port
        UNIXSocket.new(path).close
      end
      refute File.exist?(path)
    end
  end

  def test_a_dead_servers_file_is_taken_over
    in_directory do |path|
      UNIXServer.new(path).close
      open("unix://#{path}") { UNIXSocket.new(path).close }
    end
  end

  def test_a_living_servers_file_is_not
    in_directory do |path|
      open("unix://#{path}") do
        assert_refused "unix://#{path}", "another process listens there"
        UNIXSocket.new(path).close
      end
    end
  end

  # A connect(2) that waits would wait for that server.
  def test_nor_is_one_whose_server_hangs_with_a_full_backlog
    in_directory do |path|
      hanging(path) do
        thread = Thread.new { assert_refused "unix://#{path}", "another process listens there" }
        eventually("the refusal") { !thread.alive? }
        thread.value
      ensure
        thread&.kill
      end
    end
  end

  def test_another_users_socket_is_left_alone
    in_directory do |path|
      open("unix://#{path}") do
        File.chmod(0, path)
        File.chmod(0o777, File.dirname(path))
        reason = "another user's socket is there, to which this user may not connect"
        assert_equal "can't listen on unix://#{path}: #{reason}", as_somebody { refusal("unix://#{path}").message }
        assert_path_exists path
      end
    end
  end

  # Between bind(2) and listen(2) a new socket looks like one that a dead server left.
  def test_servers_that_start_at_once_take_turns
    in_directory do |path|
      alone = nil
      bind = Class.new(Cuttle::Listeners::Unix) do
        define_method(:bind) do
          alone = File.open(File.dirname(path)) { |directory| !directory.flock(File::LOCK_EX | File::LOCK_NB) }
          super()
        end
      end.new("unix://#{path}")
      bind.open
      assert alone
    ensure
      bind&.listeners&.each(&:close)
    end
  end

  def test_a_file_that_is_no_socket_is_left_alone
    in_directory do |path|
      File.write(path, "precious")
      assert_refused "unix://#{path}", "the file exists and is not a socket"
      assert_equal "precious", File.read(path)
    end
  end

  def test_only_the_owner_takes_the_file_away
    in_directory do |path|
      open("unix://#{path}") do |listeners|
        Process.wait(fork { listeners.close && exit!(0) })
        UNIXSocket.new(path).close
      end
    end
  end

  def test_a_successors_file_is_left_alone
    in_directory do |path|
      listeners = Cuttle::Listeners.open(["unix://#{path}"])
      File.unlink(path)
      open("unix://#{path}") do
        listeners.close
        UNIXSocket.new(path).close
      end
    end
  end

  # A file system may give the inode of a file that is gone to the next one.
  def test_a_successors_file_with_the_same_inode_is_left_alone
    in_directory do |path|
      open("unix://#{path}") do |listeners|
        File.link(path, "#{path}.next")
        listeners.close
        File.rename("#{path}.next", path)
      end
      assert_path_exists path
    end
  end

  def test_unix_sockets_that_can_not_be
    assert_refused "unix:///no/such/directory/s", "its directory does not exist"
    assert_refused "unix:///tmp/#{"x" * 200}", "the path is too long for a socket"
  end

  def test_the_backlog
    open("tcp://127.0.0.1:0") { |listeners| assert_equal 1024, backlog(listeners) }
    open("tcp://127.0.0.1:0?backlog=7&low_latency=true") { |listeners| assert_equal 7, backlog(listeners) }
  end

  def test_a_port_that_several_servers_share
    open("tcp://127.0.0.1:0?reuse_port=true") do |listeners|
      uri = "tcp://127.0.0.1:#{listeners.port}"
      open("#{uri}?reuse_port=true") { |others| assert_equal listeners.uris, others.uris }
      assert_refused uri, "the port is in use"
    end
  end

  def test_the_mode_of_the_file
    before = File.umask
    in_directory do |path|
      { "umask=0117" => 0o660, "mode=0606" => 0o606, "umask=0777&mode=640&backlog=3" => 0o640 }.each do |options, mode|
        open("unix://#{path}?#{options}") { assert_equal mode.to_s(8), (File.stat(path).mode & 0o7777).to_s(8) }
        refute File.exist?(path)
      end
    end
    assert_equal before, File.umask
  end

  def test_spellings_of_a_path
    in_directory do |path|
      ["unix:#{path}", "unix://#{path}"].each do |uri|
        open(uri) { |listeners| assert_equal ["unix://#{path}"], listeners.uris }
      end
      Dir.chdir(File.dirname(path)) do
        %w[unix:socket unix://socket unix:./socket].each do |uri|
          open(uri) { |listeners| assert_equal ["unix://#{File.realpath(".")}/socket"], listeners.uris }
        end
      end
    end
  end

  def test_abstract_a_name_without_a_file
    in_directory do |path|
      Dir.chdir(File.dirname(path)) do
        open(abstract) do |listeners|
          assert_equal [abstract], listeners.uris
          UNIXSocket.new(abstract.sub("unix://@", "\0")).close
          assert_refused abstract, "another process listens there"
          assert_empty Dir.children(".")
        end
        open(abstract.sub("//", "")) { |listeners| assert_equal [abstract], listeners.uris } # it is free at once
      end
    end
  end

  def test_abstract_errors_name_the_problem
    assert_refused "unix://@#{"x" * 200}", "the path is too long for a socket"
    { "unix://@" => "give a name: unix://@name", "unix:@?backlog=9" => "give a name: unix://@name",
      "unix://@a?mode=0600" => "unknown mode: give backlog, proxy_protocol",
      "unix://@a?umask=0117" => "unknown umask: give backlog, proxy_protocol" }.each do |uri, reason|
      assert_equal reason, assert_raises(ArgumentError, uri) { Cuttle::Listeners.check(uri) }.message
    end
  end

  # A path may begin with the same sign.
  def test_abstract_only_at_the_beginning
    in_directory do |path|
      Dir.chdir(File.dirname(path)) do
        open("unix:./@s") { |listeners| assert_equal ["unix://#{File.realpath(".")}/@s"], listeners.uris }
      end
    end
  end

  def test_uris_are_checked
    %w[http://a:1 tcp://a tcp://:1 tcp://a:b tcp://a:65536 tcp://::1:80 tcp://a:80/x unix:// unix: 9292].each do |uri|
      assert_raises(ArgumentError, uri) { Cuttle::Listeners.check(uri) }
    end
    %w[tcp://a:1 tcp://[::1]:80 tcp://0.0.0.0:0 unix:///a unix://a unix:/a unix:a tcp://a:1?backlog=5&low_latency=false
       tcp://a:1? unix:///a?umask=0117&mode=0660&backlog=9 ssl://a:1 ssl://[::1]:1?cert=/a%20b.pem
       ssl://a:1?cert=c&key=k&cert=d&key=l&backlog=9&no_tlsv1=true&verify_mode=force_peer&ca=e].each do |uri|
      assert_equal uri, Cuttle::Listeners.check(uri)
    end
  end

  def test_errors_name_what_is_wrong_with_a_uri
    { "ssl://0.0.0.0:9292?key=k" => "give cert before key",
      "ssl://0.0.0.0:9292?key=k&cert=c&cert=d" => "give as many key as cert",
      "ssl://0.0.0.0:9292?cert=" => "cert: give a file",
      "ssl://a:1?cert=c&verify_mode=peer" => "verify_mode=peer needs ca=FILE: who signs clients",
      "ssl://a:1?cert=c&verify_mode=all" => "verify_mode: give none, peer or force_peer",
      "ssl://a:1?cert=c&min_version=1.1" => "min_version: give 1.2 or 1.3",
      "ssl://a" => "give ssl://host:port?cert=FILE&key=FILE",
      "http://a" => "give tcp://host:port, ssl://host:port or unix:///path",
      "tcp://a:1?umask=0117" => "unknown umask: give backlog, reuse_port, proxy_protocol, low_latency",
      "unix:///a?reuse_port=true" => "unknown reuse_port: give backlog, umask, mode, proxy_protocol",
      "unix:///a?mode=0888" => "mode: give an octal number, such as 0660",
      "unix:///a?umask" => "umask: give an octal number, such as 0117",
      "tcp://a:1?backlog=0" => "backlog: give a number from 1 to 65535",
      "tcp://a:1?proxy_protocol=v1" => "proxy_protocol: give true or false",
      "tcp://a:1?low_latency=yes" => "low_latency: give true or false" }.each do |uri, reason|
      assert_equal reason, assert_raises(ArgumentError, uri) { Cuttle::Listeners.check(uri) }.message
    end
  end

  private

  # The URI of a name that no other process takes.
  def abstract = "unix://@cuttle-#{Process.pid}"

  # What the kernel made of it (tcpi_sacked of a socket that listens).
  def backlog(listeners)
    listeners.sockets.first.getsockopt(:TCP, :INFO).data.unpack("x8L6").last
  end

  def open(uri)
    listeners = Cuttle::Listeners.open([uri])
    yield listeners
  ensure
    listeners&.close
  end

  def in_directory
    Dir.mktmpdir { |directory| yield "#{directory}/socket" }
  end

  def assert_refused(uri, reason)
    assert_equal "can't listen on #{uri}: #{reason}", refusal(uri).message
  end

  def refusal(uri)
    assert_raises(Cuttle::Error) { Cuttle::Listeners.open([uri]) }
  end

  # Yields while a server at +path+ accepts nothing, and its backlog is full.
  def hanging(path)
    server = UNIXServer.new(path)
    server.listen(0)
    clients = []
    loop do
      clients << Socket.new(:UNIX, :STREAM)
      clients.last.connect_nonblock(Socket.sockaddr_un(path))
    rescue Errno::EAGAIN
      break
    end
    yield
  ensure
    [server, *clients].compact.each(&:close)
  end

  # The String that the block returns in a child without root's rights, which pass every check of permissions.
  def as_somebody
    reader, writer = IO.pipe
    pid = fork do
      Process::Sys.setuid(65_534) if Process.uid.zero?
      writer.write(yield)
    ensure
      exit!(0)
    end
    writer.close
    reader.read
  ensure
    reader.close
    Process.wait(pid)
  end
end

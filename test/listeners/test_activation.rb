# frozen_string_literal: true

require "test_helper"

# Sockets that systemd passes: by systemd-socket-activate, which starts a server at the first connection as a .socket
# unit does, and by the same variables.
class TestActivation < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = "run ->(_env) { [200, {}, [ENV.keys.grep(/LISTEN/).inspect]] }"
  NOT_USED = "cuttle: not used: systemd's socket %s, see --bind-to-activated-sockets\n"

  # Takes the sockets as a server does, and executes that server in its place.
  BEFORE = <<~RUBY
    require "cuttle"
    inherited = Cuttle::Listeners::Inherited.take(report: method(:warn))
    listeners = Cuttle::Listeners.open(["tcp://127.0.0.1:0"], inherited: inherited, activated: true)
    listeners.keep_over_exec { exec(listeners.inheritance, *ARGV) }
  RUBY

  def setup
    @path = "#{@directory}/socket"
    @port = free_port
    @address = @port.local_address.inspect_sockaddr
    File.write("#{@directory}/config.ru", APP)
  end

  def teardown
    @port.close
  end

  def test_a_unix_socket_and_a_port_that_the_settings_name
    activated([@path, @address], "-b", "tcp://#{@address}", "-b", "unix://#{@path}") do |process|
      assert_equal ["http://#{@address}", "unix://#{@path}"], process.uris
      assert_equal "[]", get(process).body # and the app has no variables to pass on
      assert_empty process.err.lines.grep(/^cuttle/)
    end
    assert_path_exists @path # it is systemd's
  end

  def test_only_the_sockets_that_are_passed
    activated([@address, @path], "--bind-to-activated-sockets=only") do |process|
      assert_equal ["http://#{@address}", "unix://#{@path}"], process.uris
      assert_equal "[]", get(process).body
    end
  end

  def test_the_sockets_that_are_passed_and_others
    activated([@path], "--bind-to-activated-sockets", "-b", "tcp://127.0.0.1:0") do |process|
      assert_match(%r{listening +http://127.0.0.1:\d+ unix://#{@path}$}, process.out)
    end
  end

  # Workers get them as all others.
  def test_workers_and_a_restart_in_place
    command = ["-e", BEFORE, "--", *ruby, "#{ROOT}/exe/cuttle", "serve", "-w", "1", "--bind-to-activated-sockets=only"]
    activated([@address, @path], command: command) do |process|
      assert_equal ["http://#{@address}", "unix://#{@path}"], process.uris
      assert_equal "[]", get(process).body
      assert process.stop.success?
    end
    assert_path_exists @path
  end

  def test_hot_restarts
    activated([@address, @path], "-w", "1", "--bind-to-activated-sockets=only") do |process|
      2.times do |times|
        Process.kill("USR2", process.pid)
        eventually("the next program") { process.out.scan(ServingProcess::READY).length == times + 2 }
        assert_equal "[]", get(process).body
      end
      assert_equal 1, process.uris.grep("unix://#{@path}").uniq.length
      assert_equal ["http://#{@address}", "unix://#{@path}"], process.uris.uniq
      assert process.stop.success?
    end
    assert_path_exists @path
  end

  def test_a_socket_that_no_bind_names
    activated([@path], "-b", "tcp://127.0.0.1:0") do |process|
      refute_includes process.out, "unix:"
      assert_includes process.err, format(NOT_USED, "unix://#{@path}")
    end
    assert_path_exists @path
  end

  # systemd still has it: the line before says why.
  def test_a_port_in_use_by_a_socket_that_no_bind_names
    passed(TCPServer.new("127.0.0.1", 0)) do |socket|
      port = socket.local_address.ip_port
      out = serve(socket, "-b", "tcp://0.0.0.0:#{port}")
      assert_equal "#{format(NOT_USED, "http://127.0.0.1:#{port}")}" \
                   "cuttle: can't listen on tcp://0.0.0.0:#{port}: the port is in use\n", out
    end
  end

  # ListenStream=9292 is [::]:9292, which takes IPv4 too.
  def test_a_port_alone_is_on_all_addresses
    passed(TCPServer.new("::", 0)) do |socket|
      [0, 1].each { |own| adopt(socket, "tcp://#{%w[0.0.0.0 [::]][own]}:#{socket.local_address.ip_port}") }
    end
  end

  def test_another_spelling_of_the_path
    File.symlink(@directory, "#{@directory}/link")
    passed(UNIXServer.new(@path)) { |socket| adopt(socket, "unix://#{@directory}/link/socket") }
  end

  def test_for_another_process
    out = serve(nil, "-b", "unix:///no/such/s", env: { "LISTEN_PID" => "1", "LISTEN_FDS" => "1" })
    assert_match(/\Acuttle: LISTEN_PID is for process 1, not for this one \(\d+\): ignored\ncuttle: can't/, out)
  end

  def test_a_datagram_socket_and_none
    passed(UDPSocket.new) do |socket|
      out = serve(socket, "-b", "unix:///no/such/s", count: 2)
      assert_equal ["cuttle: LISTEN_FDS: no listening stream socket, ignored: 3\n",
                    "cuttle: LISTEN_FDS: no listening stream socket, ignored: 4\n"], out.lines.first(2)
    end
  end

  def test_without_activation_the_option_changes_nothing
    serving_process("#{ROOT}/examples/hello.ru", "--bind-to-activated-sockets=only") do |process|
      assert_equal 200, get(process).status
    end
  end

  def test_what_the_option_may_say
    values = [nil, true, "only", "off"].map do |value|
      Cuttle::Settings.build(variables: {}, bind_to_activated_sockets: value).bind_to_activated_sockets
    end
    assert_equal [false, true, "only", false], values
    assert_raises(Cuttle::UsageError) { Cuttle::Settings.build(variables: {}, bind_to_activated_sockets: "all") }
  end

  private

  def ruby
    [*ServingProcess::RUBY, "--disable=gems", *ServingProcess::PATHS.map { |path| "-I#{path}" }]
  end

  # `cuttle serve ARGUMENTS` (or a script's +command+) started by a connection to the first of +sockets+.
  def activated(sockets, *arguments, command: ["#{ROOT}/exe/cuttle", "serve", *arguments])
    skip "systemd-socket-activate is not installed (Debian package systemd)" unless
      File.executable?("/usr/bin/systemd-socket-activate")

    process = ServingProcess.new(["-e", "exec(*ARGV)", "--", "systemd-socket-activate",
                                  *%w[RUBYLIB GEM_HOME GEM_PATH].flat_map { |name| ["-E", name] if ENV[name] }.compact,
                                  *sockets.flat_map { |socket| ["-l", socket] }, *ruby, *command], chdir: @directory)
    start(process)
    yield process
  ensure
    process&.finish
  end

  # Connects, and gets the answer once there is a server.
  def start(process)
    socket = eventually("the socket (#{process.err})") { connection }
    socket.write("GET / HTTP/1.0\r\n\r\n")
    process.wait_until_ready
  ensure
    socket&.close
  end

  def connection
    UNIXSocket.new(@path)
  rescue SystemCallError
    nil
  end

  # Bound and not listening: no other process gets the port, and systemd may have it.
  def free_port
    socket = Socket.new(:INET, :STREAM)
    socket.setsockopt(:SOCKET, :REUSEADDR, true)
    socket.bind(Addrinfo.tcp("127.0.0.1", 0))
    socket
  end

  def passed(socket)
    yield socket
  ensure
    socket.close
  end

  # What a server says that gets +socket+ as its first descriptor, until its end.
  def serve(socket, *arguments, count: 1, env: { "LISTEN_FDS" => count.to_s })
    set = "LISTEN_PID=${LISTEN_PID:-$$}; export LISTEN_PID; exec \"$@\""
    IO.popen([env, "sh", "-c", set, "sh", *ruby, "#{ROOT}/exe/cuttle", "serve", *arguments,
              { err: %i[child out], chdir: @directory, **(socket ? { 3 => socket } : {}) }], &:read)
  end

  # What systemd passed is what is listened on for +uri+.
  def adopt(socket, uri)
    copy = socket.dup
    copy.autoclose = false
    local = copy.local_address
    own = local.unix? ? "unix://#{local.unix_path}" : uri
    variables = { "CUTTLE_LISTENERS" => "#{Process.pid}\n#{copy.fileno} activated #{own}" }
    inherited = Cuttle::Listeners::Inherited.take(variables, report: ->(line) { flunk(line) })
    listeners = Cuttle::Listeners.open([uri], inherited: inherited)
    assert_equal [copy.fileno], listeners.sockets.map(&:fileno)
  ensure
    listeners&.close
  end
end

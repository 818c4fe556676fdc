# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "cuttle/cli/ctl"

# `cuttle ctl`, with real servers.
class TestCtl < Minitest::Test
  include Serving
  include TemporaryDirectory

  SLOW = "run ->(_env) { $stderr.puts 'entered'; sleep }"

  def setup
    @pidfile = "#{@directory}/pid"
    @state = "#{@directory}/state"
    write("config.ru", "run ->(_env) { [200, {}, [Cuttle.stats.inspect]] }")
  end

  def test_by_the_state_file
    server("-S", @state, "--control-url", "auto") do |process|
      assert_running("-S", @state)
      assert_equal [process.pid, 0], [state["pid"].to_i, figures("-S", @state, "stats")["requests_count"]]
      3.times { get(process) }
      assert_equal 3, figures("-S", @state, "stats")["requests_count"]
      assert_operator figures("-S", @state, "gc-stats")["count"], :>, 0
      assert_match(/hybrid\.rb/, ctl("-S", @state, "thread-backtraces").first)
      assert_equal ["cuttle gc: done\n", "", 0], ctl("-S", @state, "gc")
      assert_equal ["", "", 0], ctl("-q", "-S", @state, "gc")
      assert_equal ["cuttle stop: done\n", "", 0], ctl("-S", @state, "stop")
      eventually("its end") { !process.running? }
      assert_equal 0, process.status.exitstatus
      assert_equal ["cuttle is not running (no state file #{@state})\n", "", 1], ctl("-S", @state, "status")
    end
    assert_equal %w[config.ru], Dir.children(@directory)
  end

  def test_the_figures_have_pumas_keys
    server("--control-url", "unix://#{@directory}/c", "-t", "2:7", "--engine", "threads") do |process|
      get(process)
      figures = eventually("the end of the request") do # its client may have the answer before
        found = figures("-C", "unix://#{@directory}/c", "stats")
        found if found["busy_threads"].zero?
      end
      assert_equal({ "backlog" => 0, "max_threads" => 7, "busy_threads" => 0, "pool_capacity" => 7,
                     "requests_count" => 1 }, figures.slice("backlog", "max_threads", "busy_threads", "pool_capacity",
                                                            "requests_count"))
      assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, figures["started_at"])
      assert_equal Cuttle::VERSION, figures.dig("versions", "cuttle")
    end
  end

  # As one command, a real process.
  def test_as_a_process
    server("--pidfile", @pidfile) do
      out, status = Open3.capture2e(Serving::ServingProcess::RUBY.first, "--disable=gems", "-I#{ROOT}/lib",
                                    "#{ROOT}/exe/cuttle", "ctl", "-P", @pidfile, "status")
      assert_equal ["cuttle is running\n", 0], [out, status.exitstatus]
    end
  end

  def test_by_tcp_and_its_token
    server("-S", @state, "--control-url", "tcp://127.0.0.1:0") do
      url, token = state.values_at("control_url", "control_auth_token")
      assert_equal 0, ctl("-S", @state, "stats").last
      assert_equal ["", "cuttle: the token is missing or wrong\n", 1], ctl("-C", url, "stats")
      assert_equal 1, ctl("-S", @state, "-T", "wrong", "stop").last
      assert_equal 0, ctl("-C", url, "-T", token, "stats").last
      with_variable("CUTTLE_CONTROL_TOKEN", token) { assert_equal 0, ctl("-C", url, "stats").last }
      assert_running("-C", url)
      assert_equal 0o600, File.stat(@state).mode & 0o777
    end
  end

  def test_by_signals
    server("--pidfile", @pidfile) do |process|
      assert_equal ["cuttle is running\n", "", 0], ctl("-P", @pidfile, "status")
      assert_equal ["cuttle is running\n", "", 0], ctl("-p", process.pid, "status")
      assert_equal ["", "cuttle: stats needs a control listener: serve with --control-url\n", 1],
                   ctl("-P", @pidfile, "stats")
      assert_equal ["cuttle stop: done\n", "", 0], ctl("-P", @pidfile, "stop")
      eventually("its end") { !process.running? }
      assert_equal 0, process.status.exitstatus
    end
  end

  def test_halt_does_not_wait_for_requests
    [[], ["--control-url", "auto"]].each do |options|
      write("config.ru", SLOW)
      server("-S", @state, *options) do |process|
        client(process) do |client|
          client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          eventually("the app") { process.err.include?("entered") }
          halting = Thread.new { ctl("-S", @state, "halt") }
          eventually("its end") { !process.running? }
          assert_equal ["cuttle halt: done\n", "", 0], halting.value
          assert_equal 130, process.status.exitstatus
        end
      end
    end
  end

  def test_a_server_that_drains_lives_and_is_not_ready
    write("config.ru", SLOW)
    server("-S", @state, "--control-url", "auto") do |process|
      control = state["control_url"]
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        assert_equal [200, 200], [get(control, "/live").status, get(control, "/ready").status]
        ctl("-S", @state, "stop")
        eventually("the drain") { get(control, "/ready").status == 503 }
        assert_equal 200, get(control, "/live").status
        assert_equal ["cuttle is running, but not ready: it starts or stops\n", "", 0], ctl("-S", @state, "status")
        process.stop("INT")
      end
    end
    assert_equal %w[config.ru], Dir.children(@directory)
  end

  def test_what_one_process_can_not_do
    server("-S", @state, "--control-url", "auto") do
      %w[add-worker worker-count-up].each do |word|
        assert_equal ["", "cuttle: add-worker: there are no workers (-w 0)\n", 1], ctl("-S", @state, word)
      end
      assert_equal ["", "cuttle: reload-logs: the output goes to no files\n", 1], ctl("-S", @state, "reopen-log")
    end
  end

  def test_the_figures_of_a_cluster
    server("-S", @state, "--control-url", "auto", "-w", "2") do |process|
      figures = ready_figures
      assert_equal [2, 0, 2, 0], figures.values_at("workers", "phase", "booted_workers", "old_workers")
      worker = figures["worker_status"].first
      assert_equal [0, true], worker.values_at("index", "booted")
      assert_equal [5, 1, 5], worker["last_status"].values_at("max_threads", "auto_threads", "pool_capacity")
      [figures["started_at"], worker["started_at"], worker["last_checkin"]]
        .each { |time| assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, time) }
      assert_equal ["cuttle thread-backtraces: done\n", 0], ctl("-S", @state, "thread-backtraces").values_at(0, 2)
      eventually("what the workers print") { process.err.scan(/ of process (\d+) /).uniq.length >= 2 }
    end
  end

  def test_commands_of_a_cluster
    server("-S", @state, "--control-url", "auto", "-w", "1") do
      ready_figures
      ctl("-S", @state, "add-worker")
      eventually("one more") { ready_figures["workers"] == 2 }
      before = pids
      ctl("-S", @state, "phased-restart")
      eventually("new workers") { ready_figures["phase"] == 1 && !pids.intersect?(before) && pids.length == 2 }
      ctl("-S", @state, "worker-count-down")
      eventually("one less") { ready_figures["workers"] == 1 }
    end
  end

  # The same process has another program. Its files and its control listener are there again.
  def test_restart
    { "0" => [], "1" => [], "2" => ["--control-url", "auto"] }.each do |workers, options|
      server("-S", @state, "--pidfile", @pidfile, "-w", workers, *options, forked: false) do |process|
        url = state["control_url"]
        assert_equal ["cuttle restart: done\n", "", 0], ctl("-S", @state, "restart")
        eventually("the new program") { process.out.scan(ServingProcess::READY).length == 2 }
        assert_equal [process.pid] * 2, [File.read(@pidfile).to_i, state["pid"].to_i]
        assert_running("-S", @state)
        refute File.exist?(url.delete_prefix("unix://")) if url
        assert_equal 200, get(process).status
        assert process.stop.success?
      end
      assert_equal %w[config.ru], Dir.children(@directory)
    end
  end

  def test_a_cluster_is_halted
    write("config.ru", SLOW)
    server("-S", @state, "--control-url", "auto", "-w", "2") do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        halting = Thread.new { ctl("-S", @state, "halt") }
        eventually("its end") { !process.running? }
        assert_equal 0, halting.value.last
      end
    end
    assert_equal %w[config.ru], Dir.children(@directory)
  end

  # A supervisor that was killed leaves workers that end by themselves. They hold no file.
  def test_a_supervisor_that_was_killed
    server("-S", @state, "--pidfile", @pidfile, "--control-url", "unix://#{@directory}/c", "-w", "2") do |process|
      ready_figures
      process.stop("KILL")
      assert_equal 1, ctl("-S", @state, "status").last
      server("-S", @state, "--pidfile", @pidfile, "--control-url", "unix://#{@directory}/c", "-w", "1") do |other|
        assert_equal other.pid, File.read(@pidfile).to_i
      end
    end
  end

  def test_two_servers_with_one_pidfile
    server("--pidfile", @pidfile) do |first|
      serving_process("#{@directory}/config.ru", "--pidfile", @pidfile) do |second|
        eventually("its end") { !second.running? }
        assert_equal ["cuttle: process #{first.pid} is already running and holds the pidfile #{@pidfile}\n", 1],
                     [second.err, second.status.exitstatus]
      end
      assert_equal "#{first.pid}\n", File.read(@pidfile)
      assert_equal 200, get(first).status
    end
  end

  def test_after_kill_9
    server("-S", @state, "--pidfile", @pidfile, "--control-url", "unix://#{@directory}/c") do |process|
      process.stop("KILL")
      { "-S" => ["state file", @state], "-P" => ["pidfile", @pidfile] }.each do |flag, (name, path)|
        assert_equal ["cuttle is not running (stale #{name} #{path})\n", "", 1], ctl(flag, path, "status")
        assert_equal ["", "cuttle: not running (stale #{name} #{path})\n", 1], ctl(flag, path, "stop")
      end
    end
    server("-S", @state, "--pidfile", @pidfile, "--control-url", "unix://#{@directory}/c") do |process|
      assert_equal [process.pid, 0], [File.read(@pidfile).to_i, ctl("-S", @state, "status").last]
    end
  end

  # A pid that is a stranger's now.
  def test_no_stranger_is_signalled
    stranger = spawn(RbConfig.ruby, "--disable=gems", "-e", "sleep")
    File.write(@pidfile, "#{stranger}\n")
    assert_equal 1, ctl("-P", @pidfile, "halt").last
    assert_nil Process.wait(stranger, Process::WNOHANG)
  ensure
    Process.kill("KILL", stranger)
    Process.wait(stranger)
  end

  def test_the_configuration_file
    write("cuttle.rb", "pidfile '#{@pidfile}'\nstate_path '#{@state}'\nstate_permission 0640\n" \
                       "activate_control_app 'tcp://127.0.0.1:0', { auth_token: 't' }\n")
    server("-C", "#{@directory}/cuttle.rb") do |process|
      assert_equal 0, ctl("-F", "#{@directory}/cuttle.rb", "stats").last
      with_variable("CUTTLE_CONFIG", "#{@directory}/cuttle.rb") { assert_equal 0, ctl("stats").last }
      assert_equal [process.pid, "t", 0o640],
                   [File.read(@pidfile).to_i, state["control_auth_token"], File.stat(@state).mode & 0o777]
    end
    assert_equal ["cuttle is not running (no state file #{@state})\n", "", 1],
                 ctl("-F", "#{@directory}/cuttle.rb", "status")
  end

  # The server is started in another directory, and so is the command.
  def test_files_in_the_directory_to_serve_in
    files = "pidfile 'pid'\nstate_path 'state'\ncontrol_url 'unix:c'\n"
    { "directory '#{@directory}'\n#{files}" => [], files => ["--dir", @directory] }.each do |text, flags|
      write("cuttle.rb", text)
      serving_process("-C", "#{@directory}/cuttle.rb", *flags) do |process|
        assert_equal [process.pid] * 2, [File.read(@pidfile).to_i, state["pid"].to_i]
        assert_running("-F", "#{@directory}/cuttle.rb", *flags)
        assert_equal "unix://#{@directory}/c", state["control_url"]
        assert_equal 0, ctl("-F", "#{@directory}/cuttle.rb", *flags, "restart").last
        eventually("the new program") { process.out.scan(ServingProcess::READY).length == 2 }
        assert_running("-F", "#{@directory}/cuttle.rb", *flags)
        assert process.stop.success?
      end
      assert_equal %w[config.ru cuttle.rb], Dir.children(@directory).sort
    end
  end

  # Its own files are named as for the other commands.
  def test_start_in_another_directory
    write("cuttle.rb", "bind 'tcp://127.0.0.1:0'\ndirectory '#{ROOT}/examples'\nrackup 'hello.ru'\n")
    command = ["#{ROOT}/exe/cuttle", "ctl", "-F", "cuttle.rb", "-P", "pid", "-S", "state", "-C", "unix:c", "start"]
    process = ServingProcess.new(command, chdir: @directory)
    process.wait_until_ready
    assert_running("-S", @state)
    assert_equal [process.pid, "unix://#{@directory}/c"], [File.read(@pidfile).to_i, state["control_url"]]
  ensure
    process&.finish
  end

  def test_start
    write("cuttle.rb", "bind 'tcp://127.0.0.1:0'\nrackup '#{@directory}/config.ru'\n")
    command = ["#{ROOT}/exe/cuttle", "ctl", "-F", "#{@directory}/cuttle.rb", "-P", @pidfile, "-e", "test", "start"]
    process = ServingProcess.new(command)
    process.wait_until_ready
    assert_equal 200, get(process).status
    assert_equal [process.pid, "test"], [File.read(@pidfile).to_i, process.out[/environment +(\w+)/, 1]]
  ensure
    process&.finish
  end

  def test_usage
    [[], %w[nothing], %w[stop stop], %w[-x stop], %w[-p x stop], %w[-p 0 stop], %w[-C nowhere stop],
     %w[-e test -F - stop]].each do |arguments|
      out, err, status = ctl(*arguments)
      assert_equal ["", 1, 2], [out, err.lines.grep(/\Acuttle: /).length, status], arguments.join(" ")
    end
    out, err, status = ctl("--help")
    assert_equal ["", 0], [err, status]
    Cuttle::CLI::Ctl::WORDS.each { |word, meaning| assert_match(/^ +#{word} +#{Regexp.escape(meaning)}$/, out) }
  end

  def test_listeners_that_are_none
    UNIXServer.open("#{@directory}/u") do |server|
      Thread.new { server.accept.then { |socket| [socket.readpartial(9), socket.write("SSH-2.0\r\n"), socket.close] } }
      assert_match(/u is no control listener$/, ctl("-C", "unix://#{@directory}/u", "status")[1])
      Thread.new { server.accept.close }
      assert_equal 1, ctl("-C", "unix://#{@directory}/u", "stop").last
    end
    out, err, status = ctl("-C", "unix://#{@directory}/u", "status")
    assert_equal ["", 1], [out, status]
    assert_match(%r{\Acuttle: can't reach unix://.*/u: Connection refused}, err)
  end

  def test_halt_during_a_drain_delay
    write("config.ru", SLOW)
    server("-S", @state, "--control-url", "auto", "--drain-delay", "600") do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        assert_equal 0, ctl("-S", @state, "stop").last
        eventually("the delay") { ctl("-S", @state, "status").first.include?("not ready") }
        assert_equal 0, ctl("-S", @state, "halt").last
        eventually("its end") { !process.running? }
        assert_equal 130, process.status.exitstatus
      end
    end
  end

  def test_a_token_beside_the_configuration_file
    port = TCPServer.open("127.0.0.1", 0) { |socket| socket.local_address.ip_port }
    write("cuttle.rb", "control_url 'tcp://127.0.0.1:#{port}'\n")
    server("-C", "#{@directory}/cuttle.rb", "--control-token", "t") do
      assert_running("-F", "#{@directory}/cuttle.rb", "-T", "t")
      assert_equal 0, ctl("-F", "#{@directory}/cuttle.rb", "-T", "t", "stats").last
      assert_equal ["", "cuttle: the token is missing or wrong\n", 1],
                   ctl("-F", "#{@directory}/cuttle.rb", "-T", "wrong", "stats")
    end
  end

  private

  # `cuttle serve` in a directory of its own; yields the process.
  def server(*arguments, forked: true, &block)
    serving_process("#{@directory}/config.ru", *arguments, forked: forked, &block)
  end

  # It says that it serves before it is ready.
  def assert_running(*arguments)
    eventually("readiness") { ctl(*arguments, "status") == ["cuttle is running\n", "", 0] }
  end

  def ctl(*arguments)
    out = StringIO.new
    err = StringIO.new
    status = Cuttle::CLI.new(out: out, err: err).run(["ctl", *arguments.map(&:to_s)])
    [out.string, err.string, status]
  end

  # The figures of a server that is ready.
  def ready_figures
    assert_running("-S", @state)
    figures("-S", @state, "stats")
  end

  def pids
    figures("-S", @state, "stats")["worker_status"].map { |worker| worker["pid"] }
  end

  def figures(*arguments)
    out, err, status = ctl(*arguments)
    assert_equal ["", 0], [err, status]
    JSON.parse(out)
  end

  def state
    Cuttle::PidFile::State.parse(File.read(@state))
  end

  def write(name, text)
    File.write("#{@directory}/#{name}", text)
  end

  def with_variable(name, value)
    before = ENV.fetch(name, nil)
    ENV[name] = value
    yield
  ensure
    ENV[name] = before
  end
end

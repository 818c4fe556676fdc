# frozen_string_literal: true

require "test_helper"
require "socket"

# What systemd hears from a server with Type=notify and WatchdogSec=, from its start to its stop; and what the signal of
# deploy/logrotate.conf does.
class TestSystemd < Minitest::Test
  include Serving
  include TemporaryDirectory

  HELLO = "#{ROOT}/examples/hello.ru".freeze

  def setup
    @systemd = Socket.new(:UNIX, :DGRAM)
    @systemd.bind(Addrinfo.unix("#{@directory}/notify", :DGRAM))
    @heard = []
  end

  def teardown
    @systemd.close
  end

  def test_from_start_to_stop
    %w[0 2].each do |workers|
      notifying("-w", workers) do |process|
        heard("READY=1")
        assert_equal 200, get(process).status
        Process.kill("USR2", process.pid)
        heard("RELOADING=1")
        heard("READY=1") # by the program that it became, with the same pid
        assert_equal 200, get(process).status
        assert_predicate process.stop, :success?
        heard("STOPPING=1")
      end
    end
  end

  def test_signs_of_life
    %w[0 1].each do |workers|
      notifying("-w", workers, "WATCHDOG_USEC" => "100000") { 5.times { heard("WATCHDOG=1") } }
    end
  end

  # The only process loads the app when systemd watches it already. The rehearsal is another process.
  def test_signs_of_life_while_a_restart_loads_the_app
    File.write("#{@directory}/config.ru", <<~RUBY)
      Dir.chdir(#{@directory.inspect})
      if File.exist?("pid") && File.read("pid") == Process.pid.to_s
        File.write("loads", "")
        sleep 0.01 until File.exist?("go")
      end
      run ->(_) { [200, {}, []] }
    RUBY
    notifying("-w", "0", app: "#{@directory}/config.ru", "WATCHDOG_USEC" => "100000") do |process|
      heard("READY=1")
      File.write("#{@directory}/pid", process.pid.to_s)
      Process.kill("USR2", process.pid)
      # Ten messages fill the socket, and further ones are lost.
      eventually("the load") { take || File.exist?("#{@directory}/loads") }
      heard("RELOADING=1")
      take
      @heard.clear
      3.times { heard("WATCHDOG=1") }
      File.write("#{@directory}/go", "")
      heard("READY=1")
    end
  end

  # It may have to wait for what it starts or stops.
  { "after_booted" => nil, "before_restart" => "USR2", "after_stopped" => "TERM" }.each do |hook, signal|
    %w[0 1].each do |workers|
      define_method("test_signs_of_life_during_#{hook}_with_#{workers}_workers") do
        config = "#{@directory}/cuttle.rb"
        waits = "File.write('in', ''); sleep 0.01 until File.exist?('go')"
        File.write(config, "#{hook} { Dir.chdir(__dir__) { #{waits} } }")
        notifying("-w", workers, "-C", config, "WATCHDOG_USEC" => "100000") do |process|
          heard("READY=1")
          Process.kill(signal, process.pid) if signal
          eventually("the hook") { take || File.exist?("#{@directory}/in") }
          take
          @heard.clear
          3.times { heard("WATCHDOG=1") }
          File.write("#{@directory}/go", "")
          heard("READY=1") if signal == "USR2"
        end
      end
    end
  end

  # systemd does not know a worker as a server, and a watchdog for another process does not apply here.
  def test_a_watchdog_of_another_process
    notifying("-w", "1", "WATCHDOG_USEC" => "100000", "WATCHDOG_PID" => "1") do |process|
      heard("READY=1")
      process.stop
      heard("STOPPING=1")
      refute_includes @all, "WATCHDOG=1"
    end
  end

  # The supervisor, what it forked, and the request log.
  def test_each_process_has_the_new_files
    files = %w[out err].map { |name| "#{@directory}/#{name}" }
    %w[0 2].each do |workers|
      notifying("-w", workers, "-v", "--redirect-stdout", files[0], "--redirect-stderr", files[1], "-q",
                "-b", "unix://#{@directory}/socket") do |process|
        heard("READY=1")
        files.each { |path| File.rename(path, "#{path}.1") }
        Process.kill("HUP", process.pid)
        eventually("the new files") { [process.pid, *process.workers].all? { |pid| outputs(pid) == files } }
        assert_equal 200, get("unix://#{@directory}/socket").status
        eventually("the request's line") { File.read(files[0]).include?("GET / ") }
      end
    end
  end

  private

  # A server, once it has begun.
  def notifying(*arguments, app: HELLO, **env)
    @all = []
    @heard = []
    env = { "NOTIFY_SOCKET" => "#{@directory}/notify", "WATCHDOG_USEC" => nil, "WATCHDOG_PID" => nil, **env }
    arguments.push("-b", "tcp://127.0.0.1:0") unless arguments.include?("-b")
    process = ServingProcess.new(["#{ROOT}/exe/cuttle", "serve", app, *arguments], env: env)
    yield process
  ensure
    process&.finish
  end

  # The files of standard output and standard error.
  def outputs(pid)
    [1, 2].map { |number| File.readlink("/proc/#{pid}/fd/#{number}") }
  end

  # Waits for that line, and forgets those before.
  def heard(line)
    eventually(line) do
      take
      @heard.include?(line)
    end
    @heard.shift(@heard.index(line) + 1)
  end

  def take
    while (message = @systemd.recv_nonblock(4096, exception: false)).is_a?(String)
      @heard.concat(message.lines(chomp: true))
      @all.concat(message.lines(chomp: true))
    end
  end
end

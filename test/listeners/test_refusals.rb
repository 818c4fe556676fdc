# frozen_string_literal: true

require "test_helper"

# The system refuses to remove a Unix socket's file, or to change its mode: the disk has become read-only, or somebody
# has given the file or its directory to another user. Servers still stop and restart.
class TestRefusals < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = <<~RUBY
    run ->(env) {
      sleep 0.01 until env["PATH_INFO"] == "/" || File.exist?("go")
      [200, {}, ["hello"]]
    }
  RUBY

  # What the system would refuse, once the file "refused" is there.
  REFUSED = <<~RUBY
    if File.exist?("refused")
      def File.unlink(*) = raise(Errno::EROFS)
      def File.chmod(*) = raise(Errno::EPERM)
    end
  RUBY

  BROKEN = "Cuttle::Notify.define_singleton_method(:stopping) { |*| raise 'broken' }"

  def setup
    @path = "#{@directory}/run/s"
    Dir.mkdir("#{@directory}/run")
    Dir.mkdir("#{@directory}/config")
    File.write("#{@directory}/config.ru", APP)
    @settings = [bind]
  end

  def test_a_file_that_can_not_be_removed_costs_one_line
    listeners = Cuttle::Listeners.open(["unix://#{@path}"])
    lose_directory
    _, said = capture_io { listeners.close }
    assert_equal "cuttle: can't remove #{@path}: #{Errno::ELOOP.new.message}\n", said
    assert(listeners.sockets.all?(&:closed?))
  end

  def test_a_mode_that_can_not_be_changed_costs_one_line
    Cuttle::Listeners.open(["unix://#{@path}"]).tap do |listeners|
      listener = listeners.to_a.first
      lose_directory
      _, said = capture_io { assert_same listener, listener.adopted("unix://#{@path}", { backlog: 1, mode: 0o600 }) }
      assert_equal "cuttle: can't give #{@path} the mode 600: #{Errno::ELOOP.new.message}\n", said
    ensure
      listeners.close_copies
    end
  end

  [0, 1].each do |workers|
    define_method("test_a_server_stops_without_its_file_with_#{workers}_workers") do
      serve(workers) do |process|
        lose_directory
        assert_equal 0, process.stop.exitstatus, process.err
        assert_equal "cuttle: can't remove #{@path}: #{Errno::ELOOP.new.message}\n", process.err
      end
    end

    # The rehearsal changes no file, so it can't find out.
    define_method("test_a_restart_may_not_change_the_mode_with_#{workers}_workers") do
      @settings = [bind("?mode=0660")]
      serve(workers, forked: false) do |process|
        FileUtils.touch("#{@directory}/refused")
        restart(process)
        refute_includes process.err, "can't give" # it has that mode
        write(bind("?mode=0606"))
        restart(process)
        assert_includes process.err, "cuttle: can't give #{@path} the mode 606: #{Errno::EPERM.new.message}\n"
        assert_equal "660", format("%o", File.stat(@path).mode & 0o777)
        FileUtils.rm("#{@directory}/refused")
      end
    end

    define_method("test_a_restart_may_not_remove_a_file_with_#{workers}_workers") do
      serve(workers, forked: false) do |process|
        FileUtils.touch("#{@directory}/refused")
        write
        restart(process)
        assert_includes process.err, "cuttle: can't remove #{@path}: #{Errno::EROFS.new.message}\n"
        eventually("the end of earlier workers, which listen there") { refused? }
      end
    end
  end

  # Whatever else fails at a stop, its workers stop.
  def test_workers_stop_if_a_step_of_the_stop_fails
    @settings << BROKEN
    serve(1) do |process|
      assert_equal 0, process.stop.exitstatus, process.err
      assert_includes process.err, "cuttle: stop: broken (RuntimeError)\n"
    end
  end

  # The thread that handles signals answers what is under way before it ends the process.
  def test_an_only_process_stops_if_a_step_of_the_stop_fails
    @settings << BROKEN
    serve(0) do |process|
      client(process) do |client|
        client.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the request") { !get(process).nil? }
        Process.kill("TERM", process.pid)
        eventually("the report") { process.err.include?("cuttle: this process ends: broken (RuntimeError)\n") }
        FileUtils.touch("#{@directory}/go")
        assert_equal "hello", client.response.body
      end
      eventually("the end") { !process.running? }
      assert_equal 1, process.status.exitstatus
    end
  end

  private

  # Both listeners are the file's: options would override it.
  def serve(workers, forked: true)
    @tcp = "bind 'tcp://127.0.0.1:#{Cuttle::Lab::Servers::Ports.free}'"
    write(*@settings)
    arguments = ["-w", workers.to_s, *(ForkServer::FLAGS if forked)]
    process = ServingProcess.new(["#{ROOT}/exe/cuttle", "serve", *arguments],
                                 chdir: @directory, fork_server: (ForkServer.shared if forked))
    process.wait_until_ready
    assert_predicate process, :running?, process.err
    yield process
  ensure
    process&.finish
  end

  def write(*lines)
    File.write("#{@directory}/config/cuttle.rb", [REFUSED, @tcp, *lines].join("\n"))
  end

  def bind(options = "") = "bind 'unix://#{@path}#{options}'"

  # Restarts the server, and waits until the new program serves.
  def restart(process)
    before = process.out.scan(ServingProcess::READY).length
    Process.kill("USR2", process.pid)
    eventually(-> { "the new program: #{process.err}" }) do
      process.out.scan(ServingProcess::READY).length > before && get(process)&.body == "hello"
    end
  end

  def refused?
    UNIXSocket.new(@path).close
  rescue Errno::ECONNREFUSED
    true
  end

  # A directory that is a link to itself: the system refuses all that is done with files in it, to each user.
  def lose_directory
    File.rename("#{@directory}/run", "#{@directory}/lost")
    File.symlink("run", "#{@directory}/run")
  end
end

# frozen_string_literal: true

require "test_helper"
require "open3"

# `cuttle serve` as process 1, as in a container: with a namespace of its own for processes. The kernel keeps signals
# without a handler from such a process, and gives it every orphan.
class TestProcessOne < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Process 1 of a new namespace, and its /proc. KILL of unshare kills the namespace.
  ALONE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child",
           *("--map-root-user" unless Process.euid.zero?)].freeze

  # "/" returns the parent of the answering process. "/slow" waits until the file "go" exists. "/orphan" leaves a
  # process behind whose parent has ended, and returns its pid.
  APP = <<~RUBY
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/slow" then sleep 0.005 until File.write("begun", "") && File.exist?("go")
      when "/orphan"
        reader, writer = IO.pipe
        Process.wait(fork { writer.puts(fork { exec("true", in: :close) }) && writer.flush && exit!(0) })
        body = reader.gets
      end
      [200, {}, [body || "\#{Process.pid} \#{Process.ppid}"]]
    end)
  RUBY

  def setup
    skip "no namespaces of processes here" unless Open3.capture2e(*ALONE, "true").last.success?
    File.write("#{@directory}/config.ru", APP)
  rescue Errno::ENOENT
    skip "unshare is not installed (Debian package util-linux)"
  end

  def test_term_lets_a_request_end
    each_way do |process, server|
      slow = Thread.new { get(process, "/slow") }
      eventually("the request") { File.exist?("#{@directory}/begun") }
      Process.kill("TERM", server)
      eventually("the closed listener") { RawClient.refused?(process.port) }
      File.write("#{@directory}/go", "")
      assert_equal 200, slow.value.status
      assert_equal 0, exit_status(process)
    end
  end

  # The same process executes the new program.
  def test_a_hot_restart
    each_way do |process, server|
      File.write("#{@directory}/config.ru", "run ->(_) { [200, {}, ['new']] }")
      Process.kill("USR2", server)
      eventually("new code") { get(process).body == "new" }
      assert_equal server, child(process)
      Process.kill("TERM", server)
      assert_equal 0, exit_status(process)
    end
  end

  def test_workers_are_replaced
    alone("2") do |process, server|
      pid = eventually("an adopted worker") { get(process).body[/\A(\d+) 1\z/, 1] }
      before = children(server)
      Process.kill("KILL", before.find { |child| inside(child) == pid })
      eventually("another worker") { (children(server) - before).any? }
      assert_equal 200, get(process).status
      Process.kill("TERM", server)
      assert_equal 0, exit_status(process)
    end
  end

  # Processes that a worker or the app leaves behind become children of process 1, and disturb nothing. A cluster reaps
  # them in time (test_strangers.rb); a single process does not.
  def test_orphans
    each_way do |process, server|
      orphan = get(process, "/orphan").body.chomp
      eventually("the orphan's end") { children(server).any? { |pid| inside(pid) == orphan && state(pid) == "Z" } }
      assert_equal 200, get(process).status
      Process.kill("TERM", server)
      assert_equal 0, exit_status(process)
    end
  end

  def test_a_second_int
    each_way do |process, server, workers|
      Thread.new { get(process, "/slow") }
      eventually("the request") { File.exist?("#{@directory}/begun") }
      Process.kill("INT", server)
      eventually("the closed listener") { RawClient.refused?(process.port) }
      Process.kill("INT", server)
      assert_equal({ "0" => 130, "2" => 1 }[workers], exit_status(process))
    end
  end

  private

  def each_way
    %w[0 2].each do |workers|
      FileUtils.rm_f(%w[begun go].map { |name| "#{@directory}/#{name}" })
      File.write("#{@directory}/config.ru", APP)
      alone(workers) { |process, server| yield process, server, workers }
    end
  end

  # Yields the process that waits for the server, and the server's number outside its namespace.
  def alone(workers)
    command = ["#{ROOT}/exe/cuttle", "serve", "-w", workers, "-b", "tcp://127.0.0.1:0", "--drain-grace", "none"]
    process = ServingProcess.new(command, chdir: @directory, under: ALONE)
    process.wait_until_ready
    yield process, child(process)
  ensure
    Process.kill("KILL", child(process)) if process&.running? && child(process)
    process&.finish
  end

  def exit_status(process)
    eventually("the end (#{process.err})") { !process.running? }
    process.status.exitstatus
  end

  def child(process) = children(process.pid).first

  def children(pid) = File.read("/proc/#{pid}/task/#{pid}/children").split.map(&:to_i)

  # The number that a process has in its own namespace.
  def inside(pid) = status(pid)[/^NSpid:.*\s(\d+)$/, 1]

  def state(pid) = status(pid)[/^State:\s+(\S)/, 1]

  def status(pid)
    File.read("/proc/#{pid}/status")
  rescue SystemCallError
    "" # it has just ended
  end
end

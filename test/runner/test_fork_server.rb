# frozen_string_literal: true

require "test_helper"

# What tests learn of a process that a fork server has started is what they would learn of another: what it was given,
# and how it ended.
class TestForkServer < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Says what it was given.
  SCRIPT = <<~RUBY
    at_exit { puts "at exit" }
    p [ARGV, ENV["COLOUR"], ENV.key?("SHAPE"), Dir.pwd, $PROGRAM_NAME == __FILE__, $stdin.read]
    p rand(1 << 60)
    puts ["http://127.0.0.1:1", "Ctrl-C stops"]
    $stdout.flush
    warn "said"
    case ARGV.first
    when "exit" then exit(3)
    when "raise" then raise("oops")
    when "wait" then sleep
    end
  RUBY

  def setup
    skip "Ruby can't fork there" if ServingProcess::JVM

    File.write("#{@directory}/script.rb", SCRIPT)
    @origin = ForkServer::Origin.new(ServingProcess.ruby, { "SHAPE" => "round" })
    @fork_server = ForkServer.new(@origin)
  end

  def teardown
    [@fork_server, @origin].compact.each(&:stop)
  end

  def test_a_process_is_given_what_another_is
    given = ["end", "two words", "grüße"]
    found = Array.new(2) do
      ran(*given, env: { "COLOUR" => "red\xFF", "SHAPE" => nil }) do |process|
        assert_equal ["said\n", "at exit"], [process.err, process.out.lines.last.chomp]
        process.out.lines.first(2)
      end
    end
    expected = [given, "red\xFF", false, @directory, true, ""].inspect
    assert_equal [expected] * 2, found.map { |first, _| first.chomp }
    refute_equal(*found.map(&:last))
  end

  def test_how_a_process_ends
    { "end" => [0, nil, "said\n"], "exit" => [3, nil, "said\n"], "raise" => [1, nil, /\Asaid\n.*oops/] }
      .each do |way, (code, signal, said)|
      ran(way) do |process|
        assert_equal [code, signal], process.status.to_a, way
        assert_operator said, :===, process.err
      end
    end
  end

  def test_it_runs_until_a_signal_ends_it
    { "TERM" => 15, "KILL" => 9 }.each do |name, number|
      run_script("wait") do |process|
        assert_predicate process, :running?
        assert_equal [nil, number], process.stop(name).to_a
        assert_raises(Errno::ESRCH) { Process.kill(0, process.pid) }
      end
    end
  end

  # The processor time of what has ended.
  def test_what_processes_have_cost
    assert_equal 0, @fork_server.seconds
    ran("end") { assert_operator @fork_server.seconds, :>, 0 }
  end

  # Both have what the test's process group has. One may end before the other.
  def test_fork_servers_of_one_origin
    other = ForkServer.new(@origin)
    ran("end") { |process| assert_predicate process.status, :success? }
    @fork_server.stop
    @fork_server = other
    run_script("wait") { |process| assert_equal Process.getpgrp, Process.getpgid(process.pid) }
  end

  private

  # Yields a process that has ended.
  def ran(*arguments, **options)
    run_script(*arguments, **options) do |process|
      eventually("its end") { !process.running? }
      yield process
    end
  end

  def run_script(*arguments, env: {})
    command = ["#{@directory}/script.rb", *arguments]
    process = ServingProcess.new(command, env: env, chdir: @directory, fork_server: @fork_server)
    process.wait_until_ready
    yield process
  ensure
    process&.finish
  end
end

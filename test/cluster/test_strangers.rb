# frozen_string_literal: true

require "test_helper"

class TestStrangers < Minitest::Test
  include Eventually

  def test_a_dead_child_that_nobody_waits_for_is_reaped_at_the_second_look
    known = child
    stranger = child
    strangers = Cuttle::Cluster::Strangers.new { [known] }
    assert_nil strangers.wake_in(100)
    strangers.look_soon(100)
    assert_equal 30, strangers.wake_in(100)
    strangers.tend(130)
    assert dead?(stranger)
    strangers.tend(160)
    refute dead?(stranger)
    assert dead?(known)
    assert_nil strangers.wake_in(160)
  ensure
    Process.wait(known)
  end

  def test_a_living_child_is_left_alone
    pid = fork { sleep }
    strangers = Cuttle::Cluster::Strangers.new { [] }
    [100, 130, 160].each do |now|
      strangers.look_soon(now)
      strangers.tend(now)
    end
    assert_equal 1, Process.kill(0, pid)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
  end

  # While another of its threads is left, the parent can't reap it: the time in which a parent may do that begins
  # afterwards.
  def test_a_child_whose_first_thread_has_ended_is_not_dead
    skip "needs Linux's exit of one thread" unless RUBY_PLATFORM.match?(/x86_64-linux/)

    pid = headless_child
    strangers = Cuttle::Cluster::Strangers.new { [] }
    strangers.look_soon(100)
    strangers.tend(130)
    Process.kill("KILL", pid)
    eventually("its end") { dead?(pid) }
    strangers.look_soon(159)
    [160, 189].each { |now| strangers.tend(now) }
    assert dead?(pid)
    [219, 249].each { |now| strangers.tend(now) }
    refute dead?(pid)
  end

  # The worker's child has a child, and ends: that one is adopted by the supervisor.
  def test_the_supervisor_adopts_what_an_app_leaves_behind
    app = "run ->(_) { r, w = IO.pipe; Process.wait(fork { w.puts(fork { sleep }); exit! }); [200, {}, [r.gets]] }"
    Dir.mktmpdir do |directory|
      File.write("#{directory}/config.ru", app)
      serving_process("#{directory}/config.ru", "-w", "1", forked: true) do |process|
        orphan = get(process).body.to_i
        assert_equal process.pid, File.read("/proc/#{orphan}/stat")[/\) \S (\d+)/, 1].to_i
      ensure
        Process.kill("KILL", orphan) if orphan
      end
    end
  end

  private

  include Serving

  def child
    fork { exit!(0) }.tap { |pid| eventually("its end") { dead?(pid) } }
  end

  # A process of which only a second thread lives.
  def headless_child
    pid = fork do
      $VERBOSE = nil # syscall is deprecated
      other = Thread.new { sleep }
      Thread.pass until other.stop?
      syscall(60, 0) # exit: ends the thread that calls it
    end
    eventually("the end of its first thread") { stat(pid).first == "Z" }
    pid
  end

  # Whether it has ended, with all its threads, and no process has reaped it.
  def dead?(pid)
    stat(pid).values_at(0, 17) == %w[Z 1]
  end

  # The fields of /proc/PID/stat from the state on; none for a process that is gone.
  def stat(pid)
    File.read("/proc/#{pid}/stat").rpartition(")").last.split
  rescue Errno::ENOENT, Errno::ESRCH
    []
  end
end

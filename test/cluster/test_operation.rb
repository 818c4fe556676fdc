# frozen_string_literal: true

require "test_helper"

# What an operator sees of a cluster: hooks, signals, workers that hang.
class TestOperation < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = "run ->(env) { [200, {}, [$booted.to_s]] }"

  def setup
    Dir.mkdir("#{@directory}/config")
    File.write("#{@directory}/config.ru", APP)
  end

  HOOKS = <<~RUBY
    tell = lambda { |*words|
      File.write("hooks", "\#{words.join(" ")} in \#{File.read("/proc/self/cmdline")[/\\Acuttle: (mould|worker)/, 1] || "supervisor"}\\n", mode: "a")
    }
    before_fork { tell.("before_fork") }
    before_worker_fork { |index| tell.("before_worker_fork", index) }
    after_worker_fork { |index| tell.("after_worker_fork", index) }
    on_worker_boot { |index| $booted = index; tell.("before_worker_boot", index) }
    before_worker_shutdown { |index| tell.("before_worker_shutdown", index) }
    before_restart { tell.("before_restart") }
    after_booted { tell.("after_booted") }
    after_stopped { tell.("after_stopped") }
  RUBY

  # In order, except that the third one has no waiting parent.
  BOOT = ["before_fork in mould", "before_worker_fork 0 in mould", "after_worker_fork 0 in mould",
          "before_worker_boot 0 in worker", "after_booted in supervisor"].freeze

  SLOW = <<~RUBY
    run ->(_) {
      sleep 0.01 until File.write("entered", "") && File.exist?("go")
      $stderr.puts "left"
      [200, {}, ["late"]]
    }
  RUBY

  def test_hooks
    serve(HOOKS, "-w", "1", forked: false) do |process|
      eventually("the boot") { hooks.length == 5 }
      assert_equal BOOT.sort, hooks.sort
      assert_equal BOOT.values_at(0, 1, 3, 4), hooks - BOOT.values_at(2)
      assert_equal "0", get(process).body
      Process.kill("USR2", process.pid)
      eventually("the restart") { hooks.length >= 12 }
      assert_equal "before_restart in supervisor", hooks[5]
      assert_equal 2, hooks.count("after_booted in supervisor")
      assert process.stop.success?
      assert_equal ["before_worker_shutdown 0 in worker"] * 2, hooks.grep(/shutdown/)
      assert_equal "after_stopped in supervisor", hooks.last
    end
  end

  def test_hooks_of_an_only_process
    serve(HOOKS, "-w", "0") do |process|
      eventually("the boot") { hooks == ["after_booted in supervisor"] }
      assert process.stop.success?
      assert_equal ["after_booted in supervisor", "after_stopped in supervisor"], hooks
    end
  end

  # A second INT comes, or its time is over. A hook that never ends keeps it for a moment only.
  def test_hooks_of_an_only_process_that_does_not_wait
    { "INT" => [600, 130], "TERM" => [0.2, 1] }.each do |signal, (timeout, status)|
      stopping(0, config: "#{HOOKS}\nshutdown_timeout #{timeout}\nafter_stopped { sleep }", signal: signal) do |process|
        assert_equal status, process.stop(signal).exitstatus
        assert_equal ["after_booted in supervisor", "after_stopped in supervisor"], hooks
      end
    end
  end

  # All requests are answered. The hook waits for work that it stops.
  def test_a_hook_at_the_stop_has_time_of_its_own
    [0, 1].each do |workers|
      hook = "shutdown_timeout 0.2\nafter_stopped { sleep 0.5; File.write('parted', '') }"
      serve(hook, "-w", workers.to_s) do |process|
        wait_until_booted
        assert_predicate process.stop, :success?
        assert_path_exists "#{@directory}/parted"
        assert_empty process.err
      end
      FileUtils.rm("#{@directory}/parted")
    end
  end

  def test_a_second_interrupt_ends_a_hook_at_the_stop_that_never_ends
    { 0 => 130, 1 => 1 }.each do |workers, status|
      serve("after_stopped { File.write('parting', ''); sleep }", "-w", workers.to_s) do |process|
        wait_until_booted
        Process.kill("INT", process.pid)
        eventually("the hook") { File.exist?("#{@directory}/parting") }
        assert_equal status, process.stop("INT").exitstatus
      end
      FileUtils.rm("#{@directory}/parting")
    end
  end

  def test_a_hook_of_a_worker_that_takes_longer_than_the_stop
    serve("shutdown_timeout 0.2\nbefore_worker_shutdown { sleep }", "-w", "1") do |process|
      wait_until_booted
      assert_equal 1, process.stop.exitstatus
      assert_equal "cuttle: the hook before_worker_shutdown was still under way after 0.2 s\n", process.err
    end
  end

  def test_a_hook_that_raises_ends_the_start
    serve("\nbefore_fork { raise 'no database' }", "-w", "1") do |process|
      refute process.running?
      assert_equal 1, process.status.exitstatus
      assert_equal "cuttle: config/cuttle.rb:2: before_fork: no database (RuntimeError)\n", process.err
    end
  end

  def test_a_hook_of_a_worker_that_raises
    serve("before_worker_boot { raise 'no cache' }", "-w", "1") do |process|
      eventually("the report") { process.err.include?("died (exit status 1), the next one starts") }
      assert_includes process.err, "cuttle: worker 0: config/cuttle.rb:1: before_worker_boot: no cache (RuntimeError)\n"
    end
  end

  def test_an_app_that_does_not_load_ends_the_start
    { "raise 'broken'" => "config.ru:1: broken (RuntimeError)", "run 1 +" => "config.ru:1",
      "exit! 3" => "ended while it loaded the app (exit status 3)" }.each do |app, message|
      File.write("#{@directory}/config.ru", app)
      serve("", "-w", "2") do |process|
        refute process.running?
        assert_equal 1, process.status.exitstatus
        assert_includes process.err, message
      end
    end
  end

  # A stopped process answers nothing, and neither does one whose GVL is held for good.
  def test_a_worker_that_hangs_is_replaced
    serve("worker_timeout 3", "-w", "2") do |process|
      wait_until_booted
      hung, other = process.workers
      Process.kill("STOP", hung)
      eventually("the next worker") { process.workers.length == 2 && !process.workers.include?(hung) }
      assert_includes process.workers, other
      assert_match(/worker \d \(pid #{hung}\) gave no sign of life for 3 s: killed/, process.err)
    end
  end

  def test_a_worker_that_never_boots_is_replaced
    config = "worker_boot_timeout 10\nbefore_worker_boot { (File.write('hung', ''); sleep) unless File.exist?('hung') }"
    serve(config, "-w", "1") do |process|
      eventually("the next worker") { process.err.include?("died (SIGKILL), the next one starts now") }
      assert_match(/was not ready after 10 s: killed/, process.err)
      assert_includes process.err, "config/cuttle.rb:2:in" # where it hung, said by its backtrace
      assert_equal 200, get(process).status
    end
  end

  def test_backtraces_of_every_thread
    [0, 2].each do |workers|
      serve("", "-w", workers.to_s) do |process|
        wait_until_booted
        pids = workers.zero? ? [process.pid] : process.workers
        Process.kill(Cuttle::Signals::DUMP.last, process.pid)
        pids.each { |pid| eventually("backtraces") { process.err.include?("thread main of process #{pid} (") } }
        assert_equal 200, get(process).status
      end
    end
  end

  # Just then somebody wants to know where it is.
  def test_backtraces_of_what_does_not_stop
    [0, 1].each do |workers|
      answering_late(workers) do |process|
        Process.kill(Cuttle::Signals::DUMP.last, process.pid)
        eventually("where it is") { process.err.match?(/^cuttle: thread .*\n(\t.*\n)*\t.*config\.ru:2:in/) }
      end
    end
  end

  def test_output_files_of_what_does_not_stop
    [0, 1].each do |workers|
      answering_late(workers, "--redirect-stderr", "err") do |process, pid|
        File.rename("#{@directory}/err", "#{@directory}/old")
        Process.kill("HUP", process.pid)
        eventually("the next file") { File.readlink("/proc/#{pid}/fd/2") == "#{File.realpath(@directory)}/err" }
      end
      assert_equal "left\n", File.read("#{@directory}/err")
    end
  end

  # It comes right behind the signal to stop.
  def test_backtraces_during_a_drain_delay
    serve("drain_delay 600", "-w", "0") do |process|
      wait_until_booted
      ["TERM", Cuttle::Signals::DUMP.last].each { |signal| Process.kill(signal, process.pid) }
      eventually("backtraces") { process.err.include?("thread main of process #{process.pid} (") }
      assert process.stop("INT").success?
    end
  end

  # A process manager may send it twice. Then the blocks still run to their end.
  def test_the_same_signal_once_more_while_at_exit_blocks_run
    code = "pid = Process.pid; at_exit { Process.kill('TERM', pid) && sleep(0.01) && warn('whole') if $$ == pid }"
    [0, 1].each do |workers|
      serve(code, "-w", workers.to_s) do |process|
        wait_until_booted
        assert process.stop("TERM").success?, process.status.inspect
        assert_equal "whole\n", process.err
      end
    end
  end

  def test_requests_are_answered_during_a_drain_delay
    { 0 => 0, 1 => 1 }.each do |workers, status|
      serve("drain_delay 600", "-w", workers.to_s, "--control-url", "unix://#{@directory}/c") do |process|
        wait_until_booted
        Process.kill("TERM", process.pid)
        eventually("the end of its readiness") { get("unix://#{@directory}/c", "/ready").status == 503 }
        assert_equal 200, get(process).status
        assert_equal status, process.stop("INT").exitstatus # a worker is killed
      end
    end
  end

  def test_a_drain_delay_ends
    [0, 1].each do |workers|
      serve("drain_delay 0.5", "-w", workers.to_s) do |process|
        wait_until_booted
        seconds = elapsed { assert_predicate process.stop("TERM"), :success? }
        assert_operator seconds, :>=, 0.5
      end
    end
  end

  def test_hup_stops_where_there_are_no_logs
    serve("", "-w", "1") { |process| assert process.stop("HUP").success? }
  end

  # As `nohup` starts it, in a session of its own. Each process obeys PWR after HUP.
  IN_SESSION = [RbConfig.ruby, "--disable=gems", "-e", "Process.setsid; trap('HUP', 'IGNORE'); exec(*ARGV)"].freeze

  def test_an_ignored_hup_stops_no_process
    File.write("#{@directory}/config.ru", "run ->(_) { [200, {}, [Process.pid.to_s]] }")
    [0, 2].each do |workers|
      serve("", "-w", workers.to_s, forked: false, under: IN_SESSION) do |process|
        wait_until_booted
        Process.kill("HUP", -process.pid)
        pids = workers.zero? ? [process.pid] : process.workers
        pids.each do |pid|
          Process.kill(Cuttle::Signals::DUMP.last, pid)
          eventually("backtraces") { process.err.include?("thread main of process #{pid} (") }
        end
        eventually("answers of each") { (pids -= [get(process).body.to_i]).empty? }
        assert process.stop.success?
        refute_includes process.err, "died"
      end
    end
  end

  # Each worker loads the app.
  def test_without_preload
    File.write("#{@directory}/config.ru", "loader = Process.pid.to_s\nrun ->(env) { [200, {}, [loader]] }")
    serve("preload_app! false", "-w", "1") do |process|
      loader = get(process).body.to_i
      assert_equal [loader], process.workers
    end
  end

  private

  # Yields a server that is stopping and waits for a request, the pid of the process that has the request, and the
  # client.
  def stopping(workers, *flags, config: "", signal: "TERM")
    File.write("#{@directory}/config.ru", SLOW)
    FileUtils.rm_f(%w[entered go].map { |name| "#{@directory}/#{name}" })
    serve(config, "-w", workers.to_s, *flags) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        eventually("the app") { File.exist?("#{@directory}/entered") }
        pid = workers.zero? ? process.pid : process.workers.first
        Process.kill(signal, process.pid)
        eventually("the closed listener") { RawClient.refused?(process.port) }
        yield process, pid, client
      end
    end
  end

  # The same; the request is answered after the block.
  def answering_late(workers, *flags)
    stopping(workers, *flags) do |process, pid, client|
      yield process, pid
      File.write("#{@directory}/go", "")
      assert_equal "late", client.response.body
      eventually("the end") { !process.running? }
      assert_predicate process.status, :success?
    end
  end

  def hooks = File.exist?("#{@directory}/hooks") ? File.readlines("#{@directory}/hooks", chomp: true) : []

  def wait_until_booted = eventually("every worker") { File.exist?("#{@directory}/booted") }

  def serve(config, *args, forked: true, **options, &block)
    File.write("#{@directory}/config/cuttle.rb", "#{config}\nafter_booted { File.write('booted', '') }")
    FileUtils.rm_f(%w[hooks booted].map { |name| "#{@directory}/#{name}" })
    serving_process(*args, chdir: @directory, forked: forked, **options, &block)
  end
end

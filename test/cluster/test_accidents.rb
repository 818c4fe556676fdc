# frozen_string_literal: true

require "test_helper"

# Signals and deaths at the worst moment of a restart.
class TestAccidents < Minitest::Test
  include Serving
  include TemporaryDirectory

  def setup
    Dir.mkdir("#{@directory}/config")
    write("one")
  end

  def test_a_worker_less_while_the_first_new_one_of_a_phased_restart_boots
    serve("before_worker_boot { sleep 0.01 until File.exist?('go') || !File.exist?('slow') }", "-w", "1") do |process|
      touch("slow")
      write("two")
      Process.kill("USR1", process.pid)
      eventually("the new worker") { process.workers.length == 2 }
      Process.kill("TTOU", process.pid)
      touch("go")
      eventually("the end of the restart") { process.err.include?("phased restart: done") }
      assert_equal "two", get(process).body
    end
  end

  def test_a_worker_less_of_two_while_a_new_one_boots
    serve("before_worker_boot { sleep 0.01 until File.exist?('go') || !File.exist?('slow') }", "-w", "2") do |process|
      eventually("both") { process.workers.length == 2 }
      touch("slow")
      write("two")
      Process.kill("USR1", process.pid)
      eventually("the new worker") { process.workers.length == 3 }
      Process.kill("TTOU", process.pid)
      eventually("the end of one") { process.workers.length == 2 }
      touch("go")
      eventually("the end of the restart") { process.err.include?("phased restart: done") }
      eventually("one worker") { process.workers.length == 1 }
      assert_equal "two", get(process).body
    end
  end

  # The others are the only ones that serve.
  def test_a_worker_less_while_the_next_one_boots
    slow = "before_worker_boot { sleep 0.01 until !File.exist?('slow') }; after_booted { File.write('serve', '') }"
    serve(slow, "-w", "2") do |process|
      eventually("both") { File.exist?("#{@directory}/serve") }
      booting = next_of_worker(process, 0)
      serving = process.workers - [booting]
      Process.kill("TTOU", process.pid)
      eventually("its end") { process.workers == serving }
      assert_equal "one", get(process).body
    end
  end

  def test_the_mould_dies_while_a_phased_restart_loads_the_next_one
    serve("", "-w", "1") do |process|
      write("two", "sleep 0.01 until File.exist?('go')")
      before = process.mould(1)
      Process.kill("USR1", process.pid)
      eventually("the new mould") { process.moulds.length == 2 }
      Process.kill("KILL", before)
      @killed = Cuttle.now
      eventually("the report") { process.err.include?("died; the next one starts") }
      touch("go")
      eventually("the end of the restart") { process.err.include?("phased restart: done") }
      dead = process.workers
      Process.kill("KILL", *dead)
      eventually("the next worker") { (process.workers - dead).length == 1 }
      process.mould(1)
      eventually("the time of the mould that nobody needs") { Cuttle.now > @killed + 2.2 }
      assert_equal 1, process.moulds.length
    end
  end

  def test_the_mould_dies_in_a_phased_restart_that_fails
    boot = "sleep 0.01 until File.exist?('go'); raise 'broken'"
    hooks = "before_worker_boot { |n| if n == 1 && File.exist?('slow') then #{boot} end }; " \
            "after_booted { File.write('serve', '') }"
    serve(hooks, "-w", "2") do |process|
      mould = process.mould(2)
      eventually("both") { File.exist?("#{@directory}/serve") }
      touch("slow")
      before = process.workers
      assert_equal 2, before.length
      Process.kill("USR1", process.pid)
      last = eventually("the second worker, and one of those before") do
        process.workers.then { |now| now & before if [(now - before).length, (now & before).length] == [2, 1] }
      end
      Process.kill("KILL", mould)
      eventually("its end") { process.moulds.length == 1 }
      touch("go")
      eventually("the end of the restart") { process.err.include?("given up") }
      FileUtils.rm("#{@directory}/slow")
      Process.kill("KILL", *last)
      eventually("the next worker") { (process.workers - last).length == 2 }
    end
  end

  def test_the_mould_dies_while_the_code_is_broken
    serve("", "-w", "1") do |process|
      File.write("#{@directory}/config.ru", "raise 'broken'")
      Process.kill("KILL", process.mould(1))
      eventually("the next mould's death") { process.err.scan("died; the next one starts").length == 2 }
      assert_equal "one", get(process).body
      write("two")
      eventually("the mould") { process.moulds.length == 1 }
      Process.kill("KILL", *process.workers)
      eventually("the new code") { process.workers.any? && get(process)&.body == "two" }
    end
  end

  def test_a_second_interrupt_ends_a_drain_delay
    serve("", "-w", "1", "--drain-delay", "60", *control) do |process|
      begin_to_drain(process, "INT")
      assert_equal 1, process.stop("INT").exitstatus
    end
  end

  def test_no_restart_begins_during_a_drain_delay
    hook = "before_restart { File.write('restarted', '') }"
    serve(hook, "-w", "1", "--drain-delay", "2", *control, forked: false) do |process|
      begin_to_drain(process, "TERM")
      Process.kill("USR2", process.pid)
      assert process.stop.success?
      refute_path_exists "#{@directory}/restarted"
    end
  end

  def test_no_phased_restart_begins_during_a_stop
    serve("", "-w", "1") do |process|
      client(process) do |client|
        client.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the request") { File.exist?("#{@directory}/asked") }
        Process.kill("TERM", process.pid)
        eventually("the closed listener") { RawClient.refused?(process.port) }
        Process.kill("USR1", process.pid)
        touch("go")
        assert_equal "one", client.response.body
      end
      assert process.stop.success?
      refute_includes process.err, "phased restart"
    end
  end

  def test_no_phased_restart_begins_during_a_drain_delay
    serve("", "-w", "1", "--drain-delay", "2", *control) do |process|
      begin_to_drain(process, "TERM")
      Process.kill("USR1", process.pid)
      assert process.stop.success?
      refute_includes process.err, "phased restart"
    end
  end

  def test_a_stop_that_comes_as_a_restart_is_about_to_happen
    [0, 1].each do |workers|
      hook = "before_restart { File.write('restarts', ''); sleep 0.01 until File.exist?('go') }"
      serve(hook, "-w", workers.to_s, forked: false) do |process|
        Process.kill("USR2", process.pid)
        eventually("the hook") { File.exist?("#{@directory}/restarts") }
        Process.kill("TERM", process.pid)
        touch("go")
        eventually("the end") { !process.running? }
        assert_equal 0, process.status.exitstatus, process.err
      end
      FileUtils.rm_f(["#{@directory}/go", "#{@directory}/restarts"])
    end
  end

  # In a configuration, which is read before there are handlers.
  SLOW_BOOT = "(File.write('boots', ''); sleep 0.01 until File.exist?('booted')) if ENV['CUTTLE_RESTARTED']"

  # Nothing else would stop the workers. Requests under way are answered.
  def test_a_stop_while_the_next_supervisor_boots
    serve(SLOW_BOOT, "-w", "1", forked: false) do |process|
      client(process) do |client|
        client.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the request") { File.exist?("#{@directory}/asked") }
        stop_while_it_boots(process)
        eventually("the closed listener") { RawClient.refused?(process.port) }
        touch("go")
        assert_equal "one", client.response.body
      end
      assert_ended_well process
    end
  end

  # What waits in the backlog is answered.
  def test_a_stop_while_the_next_only_process_boots
    serve(SLOW_BOOT, "-w", "0", forked: false) do |process|
      waiting = nil
      stop_while_it_boots(process) { waiting = ask(process) }
      assert_equal "one", waiting.response.body
      assert_ended_well process
    ensure
      waiting&.close
    end
  end

  def test_output_files_opened_again_while_an_only_process_restarts
    output = ["--redirect-stderr", "#{@directory}/err"]
    serve("before_restart { File.write('restarts', '') }", "-w", "0", *output, forked: false) do |process|
      client(process) do |client|
        client.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        Process.kill("USR2", process.pid)
        eventually("the restart") { File.exist?("#{@directory}/restarts") }
        Process.kill("HUP", process.pid)
        touch("go")
        assert_equal "one", client.response.body
      end
      eventually("the new program") { get(process)&.body == "one" }
    end
  end

  def test_hot_restarts_under_a_storm_of_signals
    storm = %w[HUP PWR USR1] & Signal.list.keys
    [0, 1].each do |workers|
      serve("", "-w", workers.to_s, "--redirect-stderr", "#{@directory}/err", forked: false) do |process|
        write("two")
        Process.kill("USR2", process.pid)
        eventually("the new program") do # a worker that USR1 started may have the new code before it
          storm.each { |signal| Process.kill(signal, process.pid) }
          get(process)&.body == "two" && process.out.scan(Serving::ServingProcess::READY).length == 2
        end
        assert_equal 0, process.stop.exitstatus, process.status.inspect
      end
    end
  end

  def test_signals_while_an_only_process_loads_the_app
    write("one", "File.write('loading', ''); sleep 0.01 until File.exist?('go')")
    process = ServingProcess.new(["#{ROOT}/exe/cuttle", "serve", "-w", "0", "-b", "tcp://127.0.0.1:0",
                                  "--redirect-stderr", "err"], chdir: @directory)
    eventually("the app") { File.exist?("#{@directory}/loading") }
    File.rename("#{@directory}/err", "#{@directory}/old")
    %w[HUP USR1 USR2 TTIN TTOU PWR].each { |signal| Process.kill(signal, process.pid) }
    eventually("where it is") { File.read("#{@directory}/old").include?("config.ru:1") }
    touch("go")
    process.wait_until_ready
    assert_equal "one", get(process).body
    Process.kill("TTIN", process.pid)
    eventually("the report, in the new file") { File.read("#{@directory}/err").include?("TTIN: there are no workers") }
  ensure
    process&.finish
  end

  def test_a_new_program_that_ends_with_success
    [0, 1].each do |workers|
      { "config/cuttle.rb" => "", "config.ru" => "run ->(_) { [200, {}, ['one']] }" }.each do |file, good|
        serve("", "-w", workers.to_s, forked: false) do |process|
          File.write("#{@directory}/#{file}", "exit")
          Process.kill("USR2", process.pid)
          eventually("the report") { process.err.include?("the new program does not boot; continues as before") }
          assert_equal "one", get(process).body
          File.write("#{@directory}/#{file}", good)
        end
      end
    end
  end

  def test_a_rehearsal_ends_with_its_server
    { "TERM" => [0, 1], "KILL" => [0, 1] }.each do |signal, numbers|
      numbers.each do |workers|
        serve("", "-w", workers.to_s, forked: false) do |process|
          File.write("#{@directory}/config.ru", "File.write('rehearsal', Process.pid.to_s); sleep")
          Process.kill("USR2", process.pid)
          rehearsal = eventually("the rehearsal") { pid_in("rehearsal") }
          Process.kill(signal, process.pid)
          eventually("its end after #{signal}, -w #{workers}") { gone?(rehearsal) }
        end
        FileUtils.rm_f("#{@directory}/rehearsal")
      end
    end
  end

  def test_a_mould_that_loads_ends_with_its_supervisor
    serve("", "-w", "1") do |process|
      File.write("#{@directory}/config.ru", "File.write('mould', Process.pid.to_s); sleep")
      Process.kill("USR1", process.pid)
      mould = eventually("the mould") { pid_in("mould") }
      Process.kill("KILL", process.pid)
      eventually("its end") { gone?(mould) }
    end
  end

  def test_a_worker_that_boots_ends_with_its_supervisor
    serve("before_worker_boot { File.exist?('slow') && sleep }", "-w", "1") do |process|
      touch("slow")
      Process.kill("TTIN", process.pid)
      worker = eventually("the worker") { process.workers[1] }
      Process.kill("KILL", process.pid)
      eventually("its end") { gone?(worker) }
    end
  end

  def test_a_hot_restart_into_an_only_process
    serve("workers((ENV['X'] || File.read('workers')).to_i)", forked: false) do |process|
      before = eventually("two workers") { process.workers.then { |pids| pids if pids.length == 2 } }
      File.write("#{@directory}/workers", "0")
      write("two")
      Process.kill("USR2", process.pid)
      eventually("the new code") { get(process)&.body == "two" }
      eventually("the end of the old ones") { before.all? { |pid| gone?(pid) } }
    end
  end

  # What is late in these tests takes that long. On a loaded machine, a worker that isn't needs more than a second.
  BOOT = %w[--worker-boot-timeout 10].freeze

  # The mould forks it after the supervisor has given it up.
  def test_a_worker_that_is_forked_too_late
    serve("", "-w", "1", *BOOT) do |process|
      mould = process.moulds.first
      Process.kill("STOP", mould)
      Process.kill("KILL", *process.workers)
      eventually("the timeout") { process.err.include?("did not fork worker 0 in time") }
      Process.kill("CONT", mould)
      eventually("a worker") { get(process)&.body == "one" }
      eventually("one worker") { Array.new(20) { sleep(0.02) && process.workers.length }.uniq == [1] }
    end
  end

  def test_a_mould_that_hangs_is_replaced
    serve("before_worker_fork { sleep 0.01 while File.exist?('slow') }", "-w", "1", *BOOT) do |process|
      before = process.mould(1)
      touch("slow")
      Process.kill("KILL", *process.workers)
      eventually("the report") { process.err.include?("(pid #{before}) did not fork worker 0 in time: killed") }
      eventually("its backtrace") { process.err.include?("config/cuttle.rb:1") }
      eventually("its end") { !process.moulds.include?(before) }
      FileUtils.rm("#{@directory}/slow")
      eventually("a worker") { process.workers.any? && get(process)&.body == "one" }
    end
  end

  LIMIT = <<~RUBY
    after_booted do
      _, most = Process.getrlimit(:NOFILE)
      Thread.new do
        { "slow" => 4, "go" => 1024 }.each do |file, limit|
          sleep 0.01 until File.exist?(file)
          Process.setrlimit(:NOFILE, limit, most)
          $stderr.puts "limit \#{limit}"
        end
      end
    end
  RUBY

  def test_the_mould_dies_while_no_descriptor_is_left
    serve(LIMIT, "-w", "1", forked: false) do |process|
      touch("slow")
      eventually("the limit") { process.err.include?("limit 4") }
      Process.kill("KILL", process.mould(1))
      eventually("the report") { process.err.include?("can't start the process that loads the app: Too many open") }
      assert_equal "one", get(process).body
      touch("go")
      eventually("the next mould") { process.moulds.any? }
    end
  end

  # A write to /dev/full fails as to a full disk.
  def test_the_disk_of_the_output_files_is_full
    [0, 1].each do |workers|
      full = "stdout_redirect nil, '/dev/full'\nbefore_restart { raise 'broken' }"
      serve(full, "-w", workers.to_s, forked: false) do |process|
        kill_workers(process) if workers.positive?
        write("two")
        File.write("#{@directory}/config/cuttle.rb", "stdout_redirect '/dev/full', '/dev/full'")
        Process.kill("USR2", process.pid)
        eventually("the new program") { get(process)&.body == "two" }
        kill_workers(process) if workers.positive?
        assert_equal "two", get(process).body
      end
    end
  end

  private

  def assert_ended_well(process)
    eventually("the end") { !process.running? }
    assert_predicate process.status, :success?, process.status.inspect
  end

  # Calls the block while it boots.
  def stop_while_it_boots(process)
    Process.kill("USR2", process.pid)
    eventually("the new program") { File.exist?("#{@directory}/boots") }
    yield if block_given?
    Process.kill("TERM", process.pid)
    touch("booted")
  end

  def ask(process)
    RawClient.open(process).write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  end

  # Kills the worker of that index. Returns the pid of the next one, which boots as long as there is a file "slow".
  def next_of_worker(process, index)
    touch("slow")
    titles = process.workers.to_h { |pid| [File.read("/proc/#{pid}/cmdline")[/worker (\d+)/, 1].to_i, pid] }
    Process.kill("KILL", titles.fetch(index))
    eventually("the next worker") { (process.workers - titles.values).first }
  end

  def control = ["--control-url", "unix://#{@directory}/c"]

  # Sends a signal to stop, and waits until /ready answers 503.
  def begin_to_drain(process, signal)
    eventually("readiness") { get("unix://#{@directory}/c", "/ready").status == 200 }
    Process.kill(signal, process.pid)
    eventually("its end") { get("unix://#{@directory}/c", "/ready").status == 503 }
  end

  # Workers from before a hot restart may have ended by themselves meanwhile.
  def kill_workers(process)
    dead = process.workers
    dead.each { |pid| kill(pid) }
    eventually("the next worker") { process.running? && (process.workers - dead).any? }
  end

  def kill(pid)
    Process.kill("KILL", pid)
  rescue Errno::ESRCH
    nil
  end

  # Not +forked+: for hot restarts, and where it matters what is loaded when.
  def serve(settings, *args, forked: true, &block)
    write("one")
    FileUtils.rm_f(%w[go slow asked boots booted].map { |name| "#{@directory}/#{name}" })
    File.write("#{@directory}/workers", "2")
    File.write("#{@directory}/config/cuttle.rb", settings)
    port = Cuttle::Lab::Servers::Ports.free
    serving_process("-b", "tcp://127.0.0.1:#{port}", *args, chdir: @directory, forked: forked) do |process|
      eventually("the answer") { get(process)&.body == "one" }
      block.call(process)
    end
  end

  def write(answer, before = "")
    File.write("#{@directory}/config.ru", <<~RUBY)
      #{before}
      run ->(env) {
        File.write("asked", "") unless env["PATH_INFO"] == "/"
        sleep 0.01 until env["PATH_INFO"] == "/" || File.exist?("go")
        [200, {}, [#{answer.inspect}]]
      }
    RUBY
  end

  def touch(name)
    File.write("#{@directory}/#{name}", "")
  end

  def pid_in(name)
    File.read("#{@directory}/#{name}")[/\d+/]&.to_i
  rescue Errno::ENOENT
    nil
  end

  # Whether the process has ended; a dead one may have no parent that waits for it.
  def gone?(pid)
    File.read("/proc/#{pid}/stat")[/\) (\S)/, 1] == "Z"
  rescue SystemCallError
    true
  end
end

# frozen_string_literal: true

require "test_helper"

# `cuttle serve -w N`: supervisor and workers.
class TestCluster < Minitest::Test
  include Serving
  include TemporaryDirectory

  PID = "run ->(env) { [200, {}, [Process.pid.to_s]] }"

  def test_workers_serve_on_shared_listeners
    cluster(PID, workers: 2) do |process|
      assert_equal 2, process.workers.length
      assert_includes process.workers, get(process).body.to_i
      assert process.stop("TERM").success?
      assert_equal "", process.err
    end
  end

  def test_every_engine
    Serving::ENGINES.each do |engine|
      cluster(PID, "--engine", engine, workers: 2) do |process|
        assert_includes process.workers, get(process).body.to_i, engine
        assert process.stop("INT").success?, engine
      end
    end
  end

  def test_the_app_is_loaded_once_and_knows_that_it_is_forked
    app = "$loader = Process.pid\nrun ->(env) { [200, {}, [[$loader, env['rack.multiprocess']].inspect]] }"
    cluster(app, workers: 2) { |process| assert_equal [process.moulds.first, true].inspect, get(process).body }
  end

  # A machine of four CPUs, whose memory is three and a half times what the loaded app takes.
  SMALL = <<~'RUBY'
    Cuttle::Cluster::Cpus.define_singleton_method(:count) { |**| 4 }
    small = Module.new do
      def workers(octets, most, **)
        Dir.mkdir("#{__dir__}/proc")
        File.write("#{__dir__}/proc/meminfo", "MemTotal: #{octets * 7 / 2 / 1024} kB\n")
        super(octets, most, root: __dir__)
      end
    end
    Cuttle::Memory.singleton_class.prepend(small)
  RUBY

  def test_auto_starts_no_more_workers_than_memory_has_room_for
    small(PID, "-w", "auto", workers: 2) do |process|
      assert_includes process.workers, get(process).body.to_i
      assert_match(/--workers auto: 2 instead of 4, because the loaded app takes \d+ MB$/, process.err)
    end
    small(PID, "-w", "auto", "--no-preload", workers: 4) do |process| # nobody knows what the app will take
      assert_includes process.workers, get(process).body.to_i
      assert_equal "", process.err
    end
  end

  SHARE = "run ->(_) { [200, {}, [ObjectSpace.each_object(Cuttle::Scoreboard).first.share(4).to_s]] }"

  # Not with those that were asked for.
  def test_workers_share_the_cores_with_those_that_are_there
    small(SHARE, "-w", "auto", workers: 2) do |process|
      assert_equal "2.0", get(process).body
      { "TTOU" => "4.0", "TTIN" => "2.0" }.each do |signal, share|
        Process.kill(signal, process.pid)
        eventually("#{share} cores for each") { get(process).body == share }
      end
    end
  end

  def test_a_busy_worker_leaves_new_connections_to_an_idle_one
    app = "run ->(env) { ($stderr.puts 'entered'; sleep) if env['PATH_INFO'] == '/sleep'; " \
          "[200, {}, [Process.pid.to_s]] }"
    cluster(app, "-t", "1", "--shutdown-timeout", "0.1", workers: 2) do |process|
      client(process) do |busy|
        busy.write("GET /sleep HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        pids = Array.new(20) { get(process).body }.uniq
        assert_equal 1, pids.length
      end
    end
  end

  # The connections arrive at once, and stay open: the first worker to wake up must not get all of them. A worker
  # without a core for some milliseconds gets none, so a busy machine has further tries.
  def test_connections_that_stay_are_shared
    %w[reactor hybrid fibers].each do |engine|
      cluster(PID, "--engine", engine, workers: 2) do |process|
        clients = []
        eventually("both workers") { ask(clients << RawClient.open(process)).uniq.length == 2 }
        clients.each(&:close)
        tries = []
        shared = Array.new(5).any? { shared?((tries << crowd(process)).last) }
        assert shared, "#{engine}: #{tries}"
      end
    end
  end

  # It waits for work, as far as the others know.
  def test_a_worker_that_stands_still_keeps_nobody_waiting
    cluster(PID, "--engine", "reactor", workers: 2) do |process|
      still, other = process.workers
      Process.kill("STOP", still)
      answers = Array.new(10) { get(process).body.to_i }
      assert_equal [other], answers.uniq
    ensure
      Process.kill("CONT", still)
    end
  end

  def test_a_dead_worker_is_replaced
    cluster(PID, workers: 2) do |process|
      dead = process.workers.first
      Process.kill("KILL", dead)
      eventually("the next worker") { (process.workers - [dead]).length == 2 }
      assert_match(/\Acuttle: worker \d \(pid #{dead}\) died \(SIGKILL\), the next one starts now\n\z/, process.err)
      assert_includes process.workers, get(process).body.to_i
    end
  end

  def test_workers_that_die_at_boot_are_replaced_less_and_less_often
    # Dies as soon as it is forked: on its first look at the time, say.
    app = "parent = Process.pid\nThread.singleton_class.prepend(Module.new { define_method(:new) { |*a, &b| " \
          "Process.pid == parent ? super(*a, &b) : exit!(7) } })\n#{PID}"
    cluster(app, workers: 1) do |process|
      eventually("three deaths") { process.err.lines.length >= 3 }
      assert_equal ["now", "in 0.5 s", "in 1.0 s"], process.err.lines.first(3).map { |line| line[/starts (.*)$/, 1] }
      assert_includes process.err, "died (exit status 7)"
      assert process.stop("TERM").success?
    end
  end

  def test_ttin_and_ttou_change_the_number_of_workers
    cluster(PID, workers: 1) do |process|
      Process.kill("TTIN", process.pid)
      eventually("a second worker") { process.workers.length == 2 }
      2.times { Process.kill("TTOU", process.pid) }
      eventually("one worker") { process.workers.length == 1 }
      assert_includes process.workers, get(process).body.to_i
      assert_equal "", process.err
    end
  end

  def test_requests_under_way_are_answered
    app = "run ->(_) { $stderr.puts 'entered'; sleep 1; [200, {}, ['done']] }"
    cluster(app, workers: 2) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        Process.kill("TERM", process.pid)
        eventually("the listeners' close") { RawClient.refused?(process.port) }
        assert_equal "done", client.response.body
      end
      eventually("the end") { !process.running? }
      assert process.status.success?
    end
  end

  # The worker exits by itself.
  def test_requests_that_are_cut_off_show_in_the_status
    app = "run ->(_) { $stderr.puts 'entered'; sleep }"
    cluster(app, "--shutdown-timeout", "0.2", workers: 1) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        assert_equal 1, process.stop("TERM").exitstatus
        assert_includes process.err, "cuttle: requests were still under way after 0.2 s\n"
      end
    end
  end

  def test_a_worker_that_does_not_end_is_killed
    app = "run ->(_) { Signal.trap('TERM', 'IGNORE'); $stderr.puts 'entered'; sleep }"
    cluster(app, "--shutdown-timeout", "0.1", workers: 1) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        worker = process.workers.first
        assert_equal 1, process.stop("TERM").exitstatus
        assert_includes process.err, "cuttle: worker 0 (pid #{worker}) did not end in time: killed\n"
        refute alive?(worker)
      end
    end
  end

  def test_workers_end_when_the_supervisor_is_killed
    cluster(PID, workers: 2) do |process|
      workers = process.workers
      process.stop("KILL")
      eventually("the workers' end") { workers.none? { |pid| alive?(pid) } }
    end
  end

  def test_workers_end_in_time_when_the_supervisor_is_killed
    app = "run ->(_) { $stderr.puts 'entered'; sleep }"
    cluster(app, "--shutdown-timeout", "0.1", workers: 1) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        workers = process.workers
        process.stop("KILL")
        eventually("the worker's end") { workers.none? { |pid| alive?(pid) } }
      end
    end
  end

  def test_the_supervisor_sleeps
    cluster(PID, workers: 2) do |process|
      counted = 0
      seconds = elapsed do
        before = switches(process.pid)
        20.times { get(process) }
        counted = switches(process.pid) - before
      end
      signs_of_life = 2 * (seconds / Cuttle::Worker::Pulse::BEAT).ceil
      assert_operator counted, :<=, signs_of_life + 1
    end
  end

  private

  # Serves on such a machine, with that many workers.
  def small(app, *args, workers:)
    File.write("#{@directory}/settings.rb", SMALL)
    File.write("#{@directory}/config.ru", app)
    serving_process("#{@directory}/config.ru", "-C", "#{@directory}/settings.rb", *args) do |process|
      assert_match(/^  workers +#{workers}$/, process.out)
      eventually("#{workers} workers") { process.workers.length == workers }
      yield process
    end
  end

  # How many of 24 connections, which come at once and stay, each worker has.
  def crowd(process)
    clients = Array.new(24) { RawClient.open(process) }
    ask(clients).tally
  ensure
    clients&.each(&:close)
  end

  # Whether both workers have a fair part of a crowd.
  def shared?(counts)
    counts.length == 2 && counts.values.min >= 4
  end

  # What each of the clients is answered; their connections stay.
  def ask(clients)
    clients.each { |client| client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
    clients.map { |client| client.response.body }
  end

  def cluster(app, *args, workers:, &block)
    File.write("#{@directory}/config.ru", app)
    serving_process("#{@directory}/config.ru", "-w", workers.to_s, *args, forked: true) do |process|
      eventually("#{workers} workers") { process.workers.length == workers || process.err != "" }
      block.call(process)
    end
  end

  # A zombie without a waiting parent is no longer alive.
  def alive?(pid)
    File.read("/proc/#{pid}/stat")[/\) (\S)/, 1] != "Z"
  rescue Errno::ENOENT
    false
  end

  # How often a process has woken up.
  def switches(pid)
    File.read("/proc/#{pid}/status")[/^voluntary_ctxt_switches:\s*(\d+)/, 1].to_i
  end
end

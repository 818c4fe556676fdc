# frozen_string_literal: true

require "test_helper"
require "json"

# USR1 and USR2: new code without a lost request; code that does not load changes nothing.
class TestRestarts < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Keeps its first request until its server stops.
  HOLDS = <<~RUBY
    run(lambda do |_|
      server = ObjectSpace.each_object(Cuttle::Server).find(&:serving?)
      File.write("held", "")
      sleep 0.005 while server&.serving?
      [200, {}, ["held"]]
    end)
  RUBY

  def setup
    write("one")
  end

  def test_a_phased_restart_brings_new_code_worker_by_worker
    serve("-w", "2", forked: true) do |process|
      mould = process.mould(2)
      before = process.workers
      restart(process, "USR1", "two")
      eventually("the old ones' end") { process.moulds.length == 1 && process.workers.length == 2 }
      assert_empty before & process.workers
      refute_equal [mould], process.moulds
      assert_equal "two", get(process).body
      assert_equal "cuttle: phased restart: loading the app\ncuttle: phased restart: done\n", process.err
    end
  end

  def test_a_phased_restart_of_code_that_fails_changes_nothing
    ["raise 'broken'", "run 1 +", "exit! 3"].each do |broken|
      serve("-w", "2", forked: true) do |process|
        before = process.workers.sort
        File.write("#{@directory}/config.ru", broken)
        Process.kill("USR1", process.pid)
        eventually("its end") { process.err.include?("given up, the old workers stay") }
        eventually("the new mould's end") { process.moulds.length == 1 }
        assert_equal before, process.workers.sort
        assert_equal "one", get(process).body
      end
    end
  end

  # It loads, and fails in the worker.
  def test_a_phased_restart_whose_first_worker_fails
    serve("-w", "2", forked: true) do |process|
      before = process.workers.sort
      File.write("#{@directory}/config.ru", <<~RUBY)
        mould = Process.pid
        fails = Module.new { define_method(:new) { |*all, &block| Process.pid == mould ? super(*all, &block) : exit!(7) } }
        Thread.singleton_class.prepend(fails)
        run ->(_) { [200, {}, ["two"]] }
      RUBY
      Process.kill("USR1", process.pid)
      eventually("its end") { process.err.include?("given up, the old workers stay") }
      eventually("the new ones' end") { process.workers.sort == before }
      assert_equal "one", get(process).body
    end
  end

  def test_a_hot_restart_keeps_the_process_and_its_listeners
    [0, 2].each do |workers|
      serve("-w", workers.to_s) do |process|
        before = process.workers
        restart(process, "USR2", "two")
        eventually("the new ones") { process.workers.length == workers && !before.intersect?(process.workers) }
        assert_equal "two", get(process).body
        assert process.running?
        assert process.stop("TERM").success?, process.err
        assert_empty process.workers
      end
    end
  end

  # It was answered first, however much it was.
  def test_a_hot_restart_leaves_the_backlog_to_the_new_program
    File.write("#{@directory}/config.ru", HOLDS)
    serving_process("#{@directory}/config.ru", "-w", "0", "--engine", "reactor", chdir: @directory) do |process|
      held = ask(process)
      eventually("a request in the app") { File.exist?("#{@directory}/held") }
      waiting = Array.new(4) { ask(process) }
      write("two")
      Process.kill("USR2", process.pid)
      assert_equal "held", held.response.body
      assert_equal ["two"], waiting.map { |client| client.response.body }.uniq
    ensure
      [held, *waiting].compact.each(&:close)
    end
  end

  # The old program accepts none of it, whatever signal comes. Only a second INT would end it at once.
  def test_a_stop_during_a_hot_restart_leaves_the_backlog_to_the_new_program
    %w[TERM INT].each { |name| stop_during_a_hot_restart(name) }
  end

  def stop_during_a_hot_restart(name)
    %w[held drains go].each { |file| FileUtils.rm_f("#{@directory}/#{file}") }
    drains = "File.write('drains', ''); sleep 0.005 until File.exist?('go')\n"
    File.write("#{@directory}/config.ru", HOLDS.sub(/^.*200/) { |line| drains + line })
    serving_process("#{@directory}/config.ru", "-w", "0", "--engine", "reactor", chdir: @directory) do |process|
      held = ask(process)
      eventually("a request in the app") { File.exist?("#{@directory}/held") }
      waiting = Array.new(4) { ask(process) }
      write("two")
      Process.kill("USR2", process.pid)
      eventually("the drain") { File.exist?("#{@directory}/drains") }
      Process.kill(name, process.pid)
      File.write("#{@directory}/go", "")
      assert_equal "held", held.response.body
      assert_equal ["two"], waiting.map { |client| client.response.body }.uniq
      eventually("the end") { !process.running? }
      assert_predicate process.status, :success?, process.err
    ensure
      [held, *waiting].compact.each(&:close)
    end
  end

  # It has stopped by then.
  def test_an_only_process_that_can_not_be_executed_ends
    away = "#{@directory}.away"
    File.write("#{@directory}/cuttle.rb", "before_restart { File.rename(#{@directory.inspect}, #{away.inspect}) }")
    serving_process("-w", "0", "-C", "#{@directory}/cuttle.rb", chdir: @directory) do |process|
      Process.kill("USR2", process.pid)
      eventually("the end") { !process.running? }
      assert_equal 1, process.status.exitstatus
      assert_match(/^cuttle: hot restart: No such file.*; the server ends$/, process.err)
    end
  ensure
    File.rename(away, @directory) if File.exist?(away)
  end

  def test_hot_restarts_in_a_row
    serve("-w", "1") do |process|
      descriptors = open_in(process.pid)
      %w[two three four].each do |name|
        restart(process, "USR2", name)
        eventually("one worker") { process.workers.length == 1 && process.moulds.length == 1 }
        eventually("as many descriptors") { open_in(process.pid) == descriptors }
      end
    end
  end

  def test_a_hot_restart_of_what_does_not_boot_changes_nothing
    [0, 2].each do |workers|
      serve("-w", workers.to_s) do |process|
        before = process.workers.sort
        File.write("#{@directory}/config.ru", "raise 'broken'")
        Process.kill("USR2", process.pid)
        eventually("the report") { process.err.include?("does not boot; continues as before") }
        assert_includes process.err, "broken"
        assert_equal before, process.workers.sort
        assert_equal "one", get(process).body
      end
    end
  end

  def test_a_hot_restart_of_what_never_boots_changes_nothing
    [0, 1].each do |workers|
      serve("-w", workers.to_s, "--worker-boot-timeout", "5") do |process|
        File.write("#{@directory}/config.ru", "sleep")
        Process.kill("USR2", process.pid)
        eventually("the report") { process.err.include?("does not boot; continues as before") }
        assert_includes process.err, "hot restart: the new program was not loaded after 5 s: killed"
        assert_equal "one", get(process).body
      end
    end
  end

  def test_a_hot_restart_that_leaves_out_the_workers
    config = "#{@directory}/cuttle.rb"
    File.write(config, "workers 2")
    port = Cuttle::Lab::Servers::Ports.free
    serving_process("#{@directory}/config.ru", "-b", "tcp://127.0.0.1:#{port}", "-C", config) do |process|
      eventually("two workers") { process.workers.length == 2 && get(process)&.body == "one" }
      before = process.workers + process.moulds
      File.write(config, "workers 0")
      restart(process, "USR2", "two")
      eventually("the end of those before") { before.none? { |pid| File.exist?("/proc/#{pid}") } }
      assert process.stop.success?
    end
  end

  # What this program and its app changed in the environment is not the start's.
  def test_a_hot_restart_has_the_environment_of_the_start
    File.write("#{@directory}/cuttle.rb", "environment 'production'")
    answer = "seen = ENV.values_at('RACK_ENV', 'LOADED').inspect; ENV['LOADED'] = 'x'\n"
    serving_process("#{@directory}/config.ru", "-C", "#{@directory}/cuttle.rb", env: { "RACK_ENV" => nil }) do |process|
      File.write("#{@directory}/config.ru", "#{answer}run ->(_) { [200, {}, [seen]] }")
      2.times do |count|
        Process.kill("USR2", process.pid)
        eventually("the restart") { process.out.scan("Ctrl-C stops").length == count + 2 }
        assert_equal ["production", nil].inspect, get(process).body
      end
    end
  end

  # Bundler loads such a program into its own process, and gives that a title, which hides the command line.
  def test_a_hot_restart_under_bundle_exec
    [0, 2].each do |workers|
      write("one")
      under_bundle_exec("#{ROOT}/exe/cuttle", "serve", "#{@directory}/config.ru", "-b", "tcp://127.0.0.1:0",
                        "-w", workers.to_s, "--tag", "two  words") do |process|
        before = process.workers
        assert_empty asked_meanwhile(process) { restart(process, "USR2", "two") } - %w[one two]
        eventually("the new ones") { process.workers.length == workers && !before.intersect?(process.workers) }
        assert_equal "two  words", words(process).last
        restart(process, "USR2", "three")
      end
    end
  end

  # It takes its arguments out of ARGV.
  def test_a_hot_restart_of_rackup_under_bundle_exec
    under_bundle_exec(Gem.bin_path("rackup", "rackup"), "-s", "cuttle", "-E", "none", "-o", "127.0.0.1", "-p", "0",
                      "-O", "Tag=two  words", "#{@directory}/config.ru") do |process|
      assert_empty asked_meanwhile(process) { restart(process, "USR2", "two") } - %w[one two]
      restart(process, "USR2", "three")
    end
  end

  def test_a_hot_restart_of_a_process_that_has_a_title
    File.write("#{@directory}/cuttle.rb", "Process.setproctitle('mine')")
    ruby("#{ROOT}/exe/cuttle", "serve", "#{@directory}/config.ru", "-b", "tcp://127.0.0.1:0",
         "-C", "#{@directory}/cuttle.rb") do |process|
      assert_equal ["mine"], words(process)
      restart(process, "USR2", "two")
    end
  end

  # The title replaced the only words that showed it.
  def test_no_hot_restart_where_nobody_knows_the_arguments
    File.write("#{@directory}/config.ru", "Process.setproctitle('mine'); run ->(_) { [200, {}, ['one']] }")
    ruby(Gem.bin_path("rackup", "rackup"), "-s", "cuttle", "-E", "none", "-o", "127.0.0.1", "-p", "0") do |process|
      Process.kill("USR2", process.pid)
      eventually("the report") { process.err.include?("this program does not know how it was started") }
      assert_equal "one", get(process).body
    end
  end

  # What a rehearsal can't try must not end a server that has clients.
  def test_a_hot_restart_with_a_control_listener_that_is_taken
    [0, 1].each do |workers|
      TCPServer.open("127.0.0.1", 0) do |taken|
        config = "#{@directory}/cuttle.rb"
        File.write(config, "")
        serve("-w", workers.to_s, "-C", config) do |process|
          File.write(config, "activate_control_app 'tcp://127.0.0.1:#{taken.addr[1]}', auth_token: 'x'")
          restart(process, "USR2", "two")
          eventually("a line about it") { process.err.match?(/in use; continues without it$/) }
        end
      end
    end
  end

  # A client that asks meanwhile waits for the new program.
  def test_a_hot_restart_keeps_the_control_listener
    path = "#{@directory}/control"
    [0, 2].each do |workers|
      serve("-w", workers.to_s, "--control-url", "unix://#{path}") do |process|
        before = File.stat(path)
        restart(process, "USR2", "two")
        eventually("an answer") { get("unix://#{path}", "/ready")&.status == 200 }
        assert_equal [before.ino, before.ctime], [File.stat(path).ino, File.stat(path).ctime]
        assert process.stop("TERM").success?
        refute_path_exists path
      end
    end
  end

  # However long it takes to end: here it is suspended until the new program kills it.
  def test_the_mould_of_before_a_hot_restart_is_no_worker
    url = "unix://#{@directory}/control"
    serve("-w", "1", "--control-url", url, "--control-token", "t") do |process|
      old = process.workers + [mould = process.mould(1)]
      Process.kill("STOP", mould)
      restart(process, "USR2", "two")
      seen = []
      eventually("the end of the mould") do
        figures = JSON.parse(get(url, "/stats?token=t").body)
        seen |= figures["worker_status"].map { |worker| worker["pid"] } & old
        !process.moulds.include?(mould)
      end
      refute_includes seen, mould
      eventually("its new worker only") { JSON.parse(get(url, "/stats?token=t").body)["workers"] == 1 }
    end
  end

  def test_a_hot_restart_with_another_control_listener
    config = "#{@directory}/cuttle.rb"
    File.write(config, "control_url 'unix://#{@directory}/one'")
    serve("-w", "1", "-C", config) do |process|
      File.write(config, "control_url 'unix://#{@directory}/two'")
      restart(process, "USR2", "two")
      eventually("its file") { File.exist?("#{@directory}/two") }
      eventually("an answer") { get("unix://#{@directory}/two", "/ready")&.status == 200 }
      refute_path_exists "#{@directory}/one"
    end
  end

  def test_a_stop_during_a_hot_restart
    [0, 1].each do |workers|
      serve("-w", workers.to_s) do |process|
        File.write("#{@directory}/config.ru", "sleep")
        Process.kill("USR2", process.pid)
        eventually("the rehearsal") { process.err.include?("trying") }
        assert process.stop("TERM").success?
      end
    end
  end

  def test_an_only_process_restarts_as_a_whole_at_usr1
    serve("-w", "0") do |process|
      restart(process, "USR1", "two")
      assert process.stop("TERM").success?
    end
  end

  # The core in Ruby has no subreaper.
  def test_restarts_without_a_mould
    serve("-w", "2", "--core", "pure") do |process|
      assert_empty process.moulds
      dead = process.workers.first
      Process.kill("KILL", dead)
      eventually("the next worker") { (process.workers - [dead]).length == 2 }
      restart(process, "USR1", "two")
      assert process.stop("TERM").success?
    end
  end

  private

  # +forked+: for restarts that execute no other program.
  def serve(*args, forked: false, &block)
    write("one")
    port = Cuttle::Lab::Servers::Ports.free
    serving_process("#{@directory}/config.ru", "-b", "tcp://127.0.0.1:#{port}", *args, forked: forked) do |process|
      workers = args[1].to_i # -w N
      eventually("#{workers} workers") { process.workers.length == workers && get(process)&.body == "one" }
      block.call(process)
    end
  end

  # A program that Bundler loads, because its first line names Ruby.
  def under_bundle_exec(program, *arguments, &block)
    assert_equal "#!/usr/bin/env ruby\n", File.open(program, &:gets)
    ruby(Gem.bin_path("bundler", "bundle"), "exec", program, *arguments) do |process|
      assert_equal 1, words(process).length
      block.call(process)
    end
  end

  # A Ruby with gems. A command line that is put together again has none of Ruby's own options.
  def ruby(*command)
    library = [*ServingProcess::PATHS, ENV.fetch("RUBYLIB", nil)].compact.join(File::PATH_SEPARATOR)
    env = { "RUBYLIB" => library, "BUNDLE_GEMFILE" => ENV.fetch("BUNDLE_GEMFILE", "#{ROOT}/Gemfile") }
    process = ServingProcess.new(command, env: env, chdir: @directory, paths: [], gems: true)
    process.wait_until_ready
    yield process
  ensure
    process&.finish
  end

  # The command line or the title.
  def words(process) = File.read("/proc/#{process.pid}/cmdline").split("\0")

  # The different answers that a client that asks again and again got while the block ran.
  def asked_meanwhile(process)
    over = false
    client = Thread.new do
      answers = []
      answers << get(process)&.body until over || !sleep(0.005)
      answers
    end
    yield
    over = true
    client.value.uniq
  ensure
    over = true
  end

  # A client that waits for its answer.
  def ask(process)
    RawClient.open(process).write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  end

  def write(answer)
    File.write("#{@directory}/config.ru", "run ->(_env) { [200, {}, [#{answer.inspect}]] }")
  end

  def restart(process, signal, answer)
    write(answer)
    Process.kill(signal, process.pid)
    eventually("the new code") { get(process)&.body == answer }
  end

  def open_in(pid) = Dir.children("/proc/#{pid}/fd").length
end

# frozen_string_literal: true

require "test_helper"

# Plugins: those that come with the gem, and one of somebody else's, in a server's process.
class TestPlugins < Minitest::Test
  include Serving
  include TemporaryDirectory

  def setup
    %w[config tmp bin cuttle/plugin].each { |name| FileUtils.mkdir_p("#{@directory}/#{name}") }
    write("config.ru", "run ->(_) { [200, {}, ['one']] }")
  end

  def test_a_plugin_of_somebody_else
    write("cuttle/plugin/my_mark.rb", <<~RUBY)
      class Cuttle::Plugin::MyMark < Cuttle::Plugin
        def config(words) = words.before_worker_boot { |index| File.write("booted", index.to_s) }
        def start(process) = in_background { File.write("started", "x"); process.command("stop") }
      end
    RUBY
    serve("$LOAD_PATH << '.'\nplugin :my_mark", "-w", "1", forked: false) do |process|
      eventually("the end that the plugin ordered") { !process.running? }
      assert process.status.success?, process.err
      assert_path_exists "#{@directory}/started"
    end
  end

  # A rehearsal starts no plugins.
  def test_a_plugin_that_fails
    write("cuttle/plugin/my_mark.rb", <<~RUBY)
      class Cuttle::Plugin::MyMark < Cuttle::Plugin
        def start(_) = raise("torn")
      end
    RUBY
    [0, 1].each do |workers|
      serve("$LOAD_PATH << '.'\nplugin :my_mark", "-w", workers.to_s) do |process|
        eventually("the end") { !process.running? }
        assert_equal 1, process.status.exitstatus
        assert_equal "cuttle: Cuttle::Plugin::MyMark: torn (RuntimeError)\n", process.err
      end
      serve("", "-w", workers.to_s, forked: false) do |process|
        write("config/cuttle.rb", "$LOAD_PATH << '.'\nplugin :my_mark")
        write("config.ru", "run ->(_) { [200, {}, ['two']] }")
        Process.kill("USR2", process.pid)
        eventually("the new program") { get(process)&.body == "two" }
        assert_match(/MyMark: torn .*; continues without it$/, process.err)
      end
      write("config.ru", "run ->(_) { [200, {}, ['one']] }")
    end
  end

  # It runs in the thread that obeys signals.
  def test_a_hook_that_raises_what_is_no_standard_error
    serve("after_booted { raise NoMemoryError, 'none' }", "-w", "0") do |process|
      eventually("the report") { process.err.include?("config/cuttle.rb:1: after_booted: none (NoMemoryError)") }
      assert process.stop.success?
    end
  end

  # Many production environments have RUBYOPT=-W0.
  def test_what_plugins_and_hooks_report_without_warnings
    write("cuttle/plugin/my_mark.rb", <<~RUBY)
      class Cuttle::Plugin::MyMark < Cuttle::Plugin
        def start(_) = in_background { raise "torn" }
      end
    RUBY
    serve("$VERBOSE = nil\n$LOAD_PATH << '.'\nplugin :my_mark\nafter_booted { raise 'broken' }") do |process|
      eventually("the reports") { process.err.include?("torn") && process.err.include?("broken") }
    end
  end

  def test_plugins_that_are_missing
    { "nowhere" => "no file cuttle/plugin/nowhere.rb", "../x" => "give the name of a file" }.each do |name, message|
      serve("\nplugin #{name.inspect}") do |process|
        eventually("the end") { !process.running? }
        assert_equal 2, process.status.exitstatus
        assert_match(/\Acuttle: config\/cuttle.rb:2: plugin .*#{message}/, process.err)
      end
    end
  end

  # No gem can be found here.
  def test_a_gem_that_is_missing
    { "statsd" => "statsd-instrument", "opentelemetry" => "opentelemetry-metrics-sdk" }.each do |name, gem|
      serve("plugin :#{name}") do |process|
        eventually("the end") { !process.running? }
        assert_equal 2, process.status.exitstatus
        assert_match(/\Acuttle: config\/cuttle.rb:1: Cuttle::Plugin::\w+: the gem #{gem} is missing: /, process.err)
      end
    end
  end

  def test_options
    write("cuttle/plugin/my_mark.rb", <<~RUBY)
      class Cuttle::Plugin::MyMark < Cuttle::Plugin
        OPTIONS = { text: "default" }.freeze
        def start(_) = File.write("started", @options[:text])
      end
    RUBY
    { "" => "default", ", text: 'given'" => "given" }.each do |options, text|
      serve("$LOAD_PATH << '.'\nplugin :my_mark#{options}") do
        eventually("the plugin's start") { Dir["#{@directory}/started"].any? { |path| File.read(path) == text } }
      end
    end
    serve("$LOAD_PATH << '.'\nplugin :my_mark, word: 1") do |process|
      eventually("the end") { !process.running? }
      assert_equal [2, "cuttle: config/cuttle.rb:2: Cuttle::Plugin::MyMark: unknown option word\n"],
                   [process.status.exitstatus, process.err.lines.first]
    end
  end

  def test_tmp_restart
    [0, 1].each do |workers|
      write("config.ru", "run ->(_) { [200, {}, ['one']] }")
      serve("plugin :tmp_restart", "-w", workers.to_s, forked: false) do |process|
        assert_equal "one", get(process).body
        write("config.ru", "run ->(_) { [200, {}, ['two']] }")
        write("tmp/restart.txt", "")
        File.utime(Time.now, Time.now + 10, "#{@directory}/tmp/restart.txt") # clocks of file systems are coarse
        eventually("the new code") { get(process)&.body == "two" }
        assert process.stop.success?
        File.unlink("#{@directory}/tmp/restart.txt")
      end
    end
  end

  # The file below the link, in a release that came after the start.
  def test_tmp_restart_in_a_new_release
    %w[one two].each do |name|
      FileUtils.mkdir_p("#{@directory}/#{name}/tmp")
      write("#{name}/config.ru", "run ->(_) { [200, {}, ['#{name}']] }")
    end
    File.symlink("one", "#{@directory}/current")
    serve("plugin :tmp_restart\ndirectory '#{@directory}/current'", "-w", "1", forked: false) do |process|
      assert_equal "one", get(process).body
      File.unlink("#{@directory}/current")
      File.symlink("two", "#{@directory}/current")
      write("current/tmp/restart.txt", "")
      eventually("the new release") { get(process)&.body == "two" }
      assert process.stop.success?
    end
  end

  JOBS = <<~RUBY
    #!#{RbConfig.ruby} --disable=gems
    trap("TERM") { File.write("ended", "x"); exit }
    File.write("jobs", Process.pid.to_s)
    sleep
  RUBY

  def test_solid_queue_lives_as_long_as_the_server
    jobs(forked: false) { |process, _| assert process.stop.success? }
    assert_path_exists "#{@directory}/ended"
  end

  def test_solid_queue_ends_with_a_server_that_is_killed
    [0, 1].each do |workers|
      jobs(workers: workers) do |process, _|
        process.stop("KILL")
        eventually("the jobs' end") { File.exist?("#{@directory}/ended") }
      end
    end
  end

  # A second INT comes, or its time is over.
  def test_solid_queue_ends_with_a_server_that_does_not_wait
    write("config.ru", "run ->(_) { File.write('entered', '') && sleep }")
    { "INT" => [600, 130], "TERM" => [0.2, 1] }.each do |signal, (timeout, status)|
      jobs("shutdown_timeout #{timeout}", workers: 0, forked: false) do |process, _|
        client(process) do |client|
          client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          eventually("the app") { File.exist?("#{@directory}/entered") }
          Process.kill(signal, process.pid)
          eventually("the closed listener") { RawClient.refused?(process.port) }
          assert_equal status, process.stop(signal).exitstatus
        end
        eventually("the jobs' end") { File.exist?("#{@directory}/ended") }
      end
      File.unlink("#{@directory}/entered")
    end
  end

  # The directory no longer exists when the program is to be executed in it.
  def test_solid_queue_goes_on_after_a_restart_that_fails_at_the_last_moment
    away = <<~RUBY
      before_restart { File.rename(#{@directory.inspect}, "#{@directory}.away") }
      after_booted { File.rename("#{@directory}.away", #{@directory.inspect}) if File.exist?("#{@directory}.away") }
    RUBY
    jobs(away, forked: false) do |process, pid|
      Process.kill("USR2", process.pid)
      eventually("the failure") { process.err.match?(/hot restart: No such file.*; continues as before$/) }
      eventually("the directory") { File.exist?("#{@directory}/jobs") }
      eventually("other jobs") { ![0, pid].include?(jobs_process) }
      refute_path_exists "/proc/#{pid}"
      assert process.stop.success?
      refute_path_exists "/proc/#{jobs_process}"
    end
  end

  def test_the_server_stops_if_solid_queue_ends
    jobs do |process, pid|
      Process.kill("KILL", pid)
      eventually("the server's end") { !process.running? }
      assert_match(/Solid Queue ended \(pid #{pid} SIGKILL .*\); the server stops too/, process.err)
    end
  end

  def test_the_server_stops_without_solid_queue
    serve("plugin :solid_queue", "-w", "1") do |process|
      eventually("the server's end") { !process.running? }
      assert_includes process.err, "Solid Queue can't be started: No such file or directory - bin/jobs"
    end
  end

  private

  def jobs(config = "", workers: 1, forked: true)
    write("bin/jobs", JOBS)
    File.chmod(0o755, "#{@directory}/bin/jobs")
    FileUtils.rm_f(%w[jobs ended].map { |name| "#{@directory}/#{name}" })
    serve("plugin :solid_queue\n#{config}", "-w", workers.to_s, forked: forked) do |process|
      eventually("the jobs") { File.size?("#{@directory}/jobs") }
      yield process, jobs_process
    end
  end

  def jobs_process = File.read("#{@directory}/jobs").to_i

  def write(path, text) = File.write("#{@directory}/#{path}", text)

  # Not +forked+: for hot restarts, for ends with requests under way, and once for each plugin, which must load what it
  # needs.
  def serve(config, *args, forked: true, &block)
    write("config/cuttle.rb", config)
    serving_process(*args, chdir: @directory, forked: forked, &block)
  end
end

# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "rbconfig"
require "stringio"
require "timeout"
require "tmpdir"

# The command line of `cuttle load`: options, outputs, exit statuses, signals.
class TestLoadCommand < Minitest::Test
  include Eventually

  Load = Cuttle::Load
  COMMAND = [RbConfig.ruby, "--disable=gems", "-I#{File.expand_path("../../lib", __dir__)}",
             File.expand_path("../../exe/cuttle", __dir__), "load"].freeze

  def cuttle(*arguments)
    out = StringIO.new
    err = StringIO.new
    status = Cuttle::CLI.new(out: out, err: err).run(["load", *arguments])
    [status, out.string, err.string]
  end

  def with_server(kind = :null, **options, &block)
    Load::TestServers.open(kind, **options, &block)
  end

  def test_a_run_and_its_outputs
    Dir.mktmpdir do |directory|
      files = %w[json html hgrm csv ab prometheus].flat_map { |name| ["--#{name}", File.join(directory, name)] }
      status, out, err = with_server { |server| cuttle(server.url, "-n", "200", "-c", "2", *files) }

      assert_equal 0, status, err
      assert_match(/^responses +200 of 200 sent$/, out)
      assert_equal 200, JSON.parse(File.read(File.join(directory, "json")))["responses"]
      %w[html hgrm csv ab prometheus].each { |name| refute_empty File.read(File.join(directory, name)) }
    end
  end

  def test_json_to_standard_output_is_only_that
    _, out, = with_server { |server| cuttle(server.url, "-n", "20", "--json", "-") }

    assert_equal "cuttle-load/1", JSON.parse(out)["schema"]
  end

  def test_options_are_heard
    _, out, = with_server do |server|
      cuttle(server.url, "--rate", "100", "--poisson", "-d", "500ms", "-c", "7", "-t", "1", "--warmup", "100ms",
             "--timeout", "2s",
             "--no-keepalive", "--seed", "5", "-X", "PUT", "-H", "A: b", "--body", "c", "--expect", "200", "-q",
             "--json", "-")
    end
    result = JSON.parse(out)

    assert_equal({ "load" => "Poisson, 100/s", "duration" => 0.5, "connections" => 7, "threads" => 1, "warmup" => 0.1,
                   "timeout" => 2.0, "keep_alive" => false, "seed" => 5 },
                 result["settings"].slice("load", "duration", "connections", "threads", "warmup", "timeout",
                                          "keep_alive", "seed"))
    assert_equal [{ "method" => "PUT", "path" => "/", "weight" => 1, "expect" => 200 }], result["settings"]["mix"]
  end

  def test_options_of_sessions_are_heard
    _, out, = with_server do |server|
      cuttle(server.url, "-n", "5", "-q", "--check", "Hello", "--check", "/w.rld/", "--cookies", "--follow", "2",
             "--in-order", "--json", "-")
    end
    result = JSON.parse(out)

    assert_equal [5, true, 2, true], [result["good"], *result["settings"].values_at("cookies", "follow", "in_order")]
    assert_equal %w[Hello /w.rld/], result["settings"]["mix"].first["check"]
  end

  def test_requests_of_a_har_file_that_are_left_out
    Dir.mktmpdir do |directory|
      path = File.join(directory, "a.har")
      with_server do |server|
        entries = [server.url, "http://cdn.test/"].map { |url| { "request" => { "method" => "GET", "url" => url } } }
        File.write(path, JSON.generate("log" => { "entries" => entries }))
        status, _, err = cuttle(server.url, "-n", "5", "-q", "--har", path)

        assert_equal [0, "cuttle: #{path}: 1 left out: to other hosts than 127.0.0.1\n"], [status, err]
      end
    end
  end

  # The sentence of a report that says that all is well must not stand below one that says that nothing is.
  def test_a_server_that_only_fails
    status, out, = with_server(:failing) { |server| cuttle(server.url, "-n", "2000", "-q") }

    assert_equal 0, status
    assert_match(%r{^good        0\.0/s: 0 of 2,000 responses$}, out)
    assert_match(/^statuses    2,000 × 500$/, out)
    assert_match(/^  ! errors: 2,000 of 2,000 requests failed \(100%\); their responses/, out)
  end

  def test_a_check_that_fails
    status, out, err = with_server do |server|
      cuttle(server.url, "-n", "20", "-q", "--check", "Bye", "--assert", "check=0")
    end

    assert_equal [3, "cuttle: assertion failed: check=0: it is 20\n"], [status, err]
    assert_match(/^  failed check +20$/, out)
  end

  def test_assertions_decide_the_exit_status
    with_server do |server|
      assert_equal 0, cuttle(server.url, "-n", "50", "-q", "--assert", "errors=0")[0]
      status, _, err = cuttle(server.url, "-n", "50", "-q", "--assert", "errors=0, rate<1")

      assert_equal 3, status
      assert_match(/\Acuttle: assertion failed: rate<1: it is [\d,.]+\n\z/, err)
    end
  end

  def test_each_assertion_counts
    with_server do |server|
      ["errors=0", "rate<1"].permutation do |first, second|
        status, _, err = cuttle(server.url, "-n", "50", "-q", "--assert", first, "--assert", second)

        assert_equal 3, status
        assert_match(/\Acuttle: assertion failed: rate<1: it is [\d,.]+\n\z/, err)
      end
    end
  end

  def test_nothing_answered
    status, out, err = with_server(:closing) { |server| cuttle(server.url, "-n", "5", "-q") }

    assert_equal [1, "cuttle: nothing was answered\n"], [status, err]
    assert_match(/^  closed too early +5$/, out)
  end

  def test_outputs_without_an_answer
    Dir.mktmpdir do |directory|
      paths = %w[json html hgrm csv ab prometheus].to_h { |name| ["--#{name}", File.join(directory, name)] }
      %i[closing babbling].each do |kind|
        status, out, = with_server(kind) { |server| cuttle(server.url, "-n", "5", "-q", *paths.flatten) }

        assert_equal 1, status
        assert_match(/^responses +0 of 5 sent$/, out)
        assert_equal 5, JSON.parse(File.read(paths["--json"]))["errors"].values.sum
        paths.each_value { |path| refute_empty File.read(path) }
        paths.each_value { |path| File.delete(path) }
      end
    end
  end

  def test_failures_are_one_line
    port = with_server(&:port)
    { "http://127.0.0.1:#{port}/" => /\Acuttle: 127.0.0.1:#{port}: Connection refused\n\z/,
      "http://no.invalid/" => /\Acuttle: no.invalid: the name can't be resolved\n\z/,
      "unix:///no/such" => %r{\Acuttle: /no/such: No such file or directory\n\z} }.each do |url, line|
      status, _, err = cuttle(url)

      assert_equal 1, status
      assert_match line, err
    end
    status, _, err = with_server(:babbling) { |server| cuttle(server.url, "-q") }
    assert_equal 1, status
    assert_match(/\Acuttle: .*the answer is not HTTP.*\n\z/, err)
  end

  def test_an_output_that_fails_costs_no_other
    Dir.mktmpdir do |directory|
      csv = File.join(directory, "csv")
      { [] => [1, ""],
        ["--assert", "rate<1"] => [3, "cuttle: assertion failed: rate<1: .*\n"] }.each do |more, (code, said)|
        status, out, err = with_server do |server|
          cuttle(server.url, "-n", "50", "-q", "--json", "/dev/full", "--csv", csv, *more)
        end

        assert_equal code, status
        assert_match(%r{\Acuttle: --json: /dev/full: No space left on device\n#{said}\z}, err)
        assert_match(/^responses +50 of 50/, out)
        refute_empty File.read(csv)
        File.delete(csv)
      end
    end
  end

  def test_a_run_that_fails_leaves_files_as_they_were
    port = with_server(&:port)
    Dir.mktmpdir do |directory|
      former, fresh = %w[former fresh].map { |name| File.join(directory, name) }
      File.write(former, "as it was")
      status, = cuttle("http://127.0.0.1:#{port}/", "--json", fresh, "--csv", former)

      assert_equal [1, "as it was"], [status, File.read(former)]
      refute_path_exists fresh
    end
  end

  def test_wrong_usage
    [[], ["http://a/", "http://b/"], ["ftp://a/"], ["http://a/", "--rate", "x"], ["http://a/", "-c", "ten"],
     ["http://a/", "--nonsense"], ["http://a/", "-d", "5y"],
     ["http://a/", "--check", "/(/"], ["http://a/", "--check", "\xFF"], ["http://a/", "-H", "X: \xFF"],
     ["http://a/", "--check", ""], ["http://a/", "--follow", "-1"],
     ["http://a/", "--cookies", "--pipeline", "2"],
     ["http://a/", "--assert", "p99"], ["http://a/", "--json", "/no/such/dir/x"],
     ["http://a/", "--agents", "b:1"], ["http://a/", "--agents", ""],
     ["--agent", "1", "http://a/"], ["http://a/", "-H", "x"],
     ["http://a/", "--mix", "/no/such"], ["http://a/", "--body-file", "/no/such"], ["compare"],
     ["compare", "/no/a", "/no/b"], ["self-test", "now"],
     ["http://127.0.0.1:1/", "--token-file", "/no/such"]].each do |arguments|
      status, _, err = cuttle(*arguments)

      assert_equal 2, status, arguments.inspect
      assert_match(/\Acuttle: .+\nUsage: cuttle load --help\n\z/, err)
    end
  end

  def test_help
    [["--help"], ["compare", "--help"], ["self-test", "--help"]].each do |arguments|
      status, out, = cuttle(*arguments)

      assert_equal 0, status
      assert_match(/\AUsage: cuttle load/, out)
    end
  end

  def test_compare
    Dir.mktmpdir do |directory|
      paths = %w[a b].map { |name| File.join(directory, name) }
      with_server { |server| paths.each { |path| cuttle(server.url, "-d", "300ms", "-q", "--json", path) } }
      status, out, = cuttle("compare", *paths)

      assert_equal 0, status
      assert_match(/^rate /, out)
      assert_includes out, "an interval needs 5 whole seconds"
    end
  end

  # Others compute on the only core that the generator may use.
  def test_a_generator_without_a_core_says_so
    skip "needs taskset" unless system("taskset", "-V", out: File::NULL, err: File::NULL)

    core = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\d+)/, 1]
    others = Array.new(3) { Process.spawn("taskset", "-c", core, RbConfig.ruby, "--disable-gems", "-e", "loop {}") }
    out, = with_server do |server|
      Open3.capture2("taskset", "-c", core, *COMMAND, server.url, "-d", "2s", "-q")
    end

    assert_match(/^  ! descheduled: a thread of the generator waited [1-9][\d.]+% of the time for a core/, out)
  ensure
    others&.each { |pid| Process.kill("KILL", pid) }&.each { |pid| Process.wait(pid) }
  end

  # In the locale C, which many containers have, Ruby takes arguments for octets, and files for ASCII.
  def test_words_outside_ascii_in_any_locale
    Dir.mktmpdir do |directory|
      path = File.join(directory, "json")
      arguments = ["-n", "5", "-q", "--check", "größe", "-H", "X: größe", "--json", path]
      _, err, status = with_server { |server| Open3.capture3({ "LC_ALL" => "C" }, *COMMAND, server.url, *arguments) }

      assert_equal [0, ""], [status.exitstatus, err]
      assert_equal ["größe"], JSON.parse(File.read(path))["settings"]["mix"].first["check"]
      _, err, status = Open3.capture3({ "LC_ALL" => "C" }, *COMMAND, "compare", path, path)
      assert_equal [0, ""], [status.exitstatus, err]
    end
  end

  # Runs the command as a process, yields its pid once it says that it runs, and returns its exit status and output.
  def process(*arguments, until_it_says:)
    Open3.popen3(*COMMAND, *arguments) do |input, out, err, thread|
      input.close
      line = Timeout.timeout(20) { (until_it_says == :out ? out : err).gets }
      yield thread.pid, line
      said = Timeout.timeout(20) { [out.read, err.read] }
      return [thread.value.exitstatus, *said]
    end
  end

  def test_an_interrupt_prints_what_there_is
    status, out, = with_server do |server|
      process(server.url, "-d", "60s", "-c", "2", until_it_says: :err) { |pid, _| Process.kill("INT", pid) }
    end

    assert_equal 130, status
    assert_match(/^responses +[1-9]/, out)
    assert_match(/^  ! interrupted after \d/, out)
  end

  # Its reader gets one output, that of the run.
  def test_an_output_that_is_a_pipe
    Dir.mktmpdir do |directory|
      pipe = File.join(directory, "pipe")
      File.mkfifo(pipe)
      said = Queue.new
      reader = Thread.new { loop { said << File.read(pipe) } }
      status, = with_server { |server| cuttle(server.url, "-n", "20", "-q", "--json", pipe) }

      assert_equal [0, 20], [status, JSON.parse(said.pop)["responses"]]
    ensure
      reader&.kill&.join
    end
  end

  # The reader of a pipe comes late. Until then the command waits in the middle of its outputs.
  def test_an_interrupt_while_outputs_are_written
    Dir.mktmpdir do |directory|
      csv, json = %w[csv json].map { |name| File.join(directory, name) }
      File.mkfifo(json)
      said = nil
      status, = with_server do |server|
        process(server.url, "-d", "1100ms", "--csv", csv, "--json", json, until_it_says: :err) do |pid, _|
          eventually("the first output") { File.size?(csv) }
          Process.kill("INT", pid)
          said = JSON.parse(Timeout.timeout(20) { File.read(json) })
        end
      end

      assert_equal [0, false], [status, said["interrupted"]]
    end
  end

  def test_agents_as_processes
    Dir.mktmpdir do |directory|
      token = File.join(directory, "token")
      File.write(token, "secret\n")
      status, = process("--agent", "127.0.0.1:0", "--token-file", token, until_it_says: :out) do |pid, line|
        address = "127.0.0.1:#{line[/port (\d+)/, 1]}"
        ran, out, err = with_server do |server|
          cuttle(server.url, "-n", "30", "-q", "--agents", address, "--token-file", token)
        end

        assert_equal 0, ran, err
        assert_match(/^responses +30 of 30/, out)
        Process.kill("TERM", pid)
      end

      assert_equal 0, status
    end
  end
end

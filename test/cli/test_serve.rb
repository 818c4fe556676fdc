# frozen_string_literal: true

require "test_helper"

# `cuttle serve` as a process of its own.
class TestServe < Minitest::Test
  include Serving
  include TemporaryDirectory

  HELLO = "run ->(env) { [200, { 'content-type' => 'text/plain' }, [\"Hello from \#{ENV['RACK_ENV']}\"]] }"

  SLOW = <<~RUBY
    run ->(_env) { $stderr.puts "entered"; $stderr.flush; sleep 1.5; [200, {}, ["done"]] }
  RUBY

  def test_serves_and_says_what_it_is
    serving_process(rackup(HELLO)) do |process|
      assert_equal "Hello from development", get(process).body
      facts = process.out.scan(/^  (\S+) +(.*)$/).to_h
      assert_equal({ "engine" => "hybrid", "workers" => "0", "threads" => "auto (3 to 5)", "parser" => "native",
                     "environment" => "development", "listening" => process.url, "pid" => process.pid.to_s }, facts)
      assert process.stop("TERM").success?
      assert_equal "", process.err
    end
  end

  def test_every_engine
    Serving::ENGINES.each do |engine|
      serving_process(rackup(HELLO), "--engine", engine, forked: true) do |process|
        assert_equal "Hello from development", get(process).body, engine
        assert process.stop("INT").success?, engine
      end
    end
  end

  def test_values_behind_an_equals_sign
    serving_process(rackup(HELLO), "--bind=tcp://127.0.0.1:0", "--engine=threads", "--threads=2:4",
                    forked: true) do |process|
      assert_equal %w[threads 2:4], process.out.scan(/^  (?:engine|threads) +(.*)$/).flatten
    end
  end

  def test_the_stopping_signals
    %w[INT TERM QUIT].each do |signal|
      serving_process(rackup(HELLO), forked: true) do |process|
        assert_equal 0, process.stop(signal).exitstatus, signal
      end
    end
    inheriting("HUP", "DEFAULT") do # the process that runs these tests may ignore it
      serving_process(rackup(HELLO)) { |process| assert_equal 0, process.stop("HUP").exitstatus }
    end
  end

  def test_a_terminal_that_goes_away_means_nothing_under_nohup
    inheriting("HUP", "IGNORE") do
      serving_process(rackup(HELLO)) do |process|
        Process.kill("HUP", process.pid)
        assert_equal "Hello from development", get(process).body
      end
    end
  end

  def test_a_request_under_way_is_answered_and_no_new_connection_accepted
    serving_process(rackup(SLOW), forked: true) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        Process.kill("TERM", process.pid)
        eventually("the listener's close") { RawClient.refused?(process.port) }
        answer = client.response
        assert_equal ["done", "close"], [answer.body, answer["connection"]]
      end
      eventually("the end") { !process.running? }
      assert_equal 0, process.status.exitstatus
    end
  end

  def test_what_takes_longer_than_the_shutdown_timeout_is_left
    serving_process(rackup("run ->(_) { $stderr.puts 'entered'; sleep }"), "--shutdown-timeout", "0.2") do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        assert_equal 1, process.stop("TERM").exitstatus
        assert_includes process.err, "cuttle: requests were still under way after 0.2 s\n"
      end
    end
  end

  def test_a_second_interrupt_is_obeyed_at_once
    serving_process(rackup("run ->(_) { $stderr.puts 'entered'; sleep }")) do |process|
      client(process) do |client|
        client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually("the app") { process.err.include?("entered") }
        Process.kill("INT", process.pid)
        eventually("the listener's close") { RawClient.refused?(process.port) }
        assert_equal 130, process.stop("INT").exitstatus
      end
    end
  end

  def test_quiet_says_nothing
    socket = "#{@directory}/s"
    process = ServingProcess.new(["#{ROOT}/exe/cuttle", "serve", rackup(HELLO), "-q", "-b", "unix://#{socket}"])
    answer = eventually("the socket") do
      get("unix://#{socket}")
    rescue Errno::ENOENT, Errno::ECONNREFUSED
      nil # it has its name before it listens
    end
    assert_equal "Hello from development", answer.body
    process.stop
    assert_equal ["", ""], [process.out, process.err]
    refute File.exist?(socket)
  ensure
    process&.finish
  end

  # A file system may give the inode of the file that is gone to that of a successor.
  def test_a_server_that_stops_leaves_its_successors_socket_alone
    app = "run ->(_) { File.write('in', ''); sleep 0.005 until File.exist?('go'); [200, {}, ['done']] }"
    %w[0 1].each do |workers|
      socket = "#{@directory}/s#{workers}"
      arguments = [rackup(app), "-b", "unix://#{socket}", "-w", workers]
      serving_process(*arguments, chdir: @directory, forked: true) do |process|
        answer = Thread.new { get(process) }
        eventually("the app") { File.exist?("#{@directory}/in") }
        File.link(socket, "#{@directory}/next")
        Process.kill("TERM", process.pid)
        eventually("the file's end") { !File.exist?(socket) }
        File.rename("#{@directory}/next", socket)
        File.write("#{@directory}/go", "")
        assert_equal "done", answer.value.body
        eventually("the end") { !process.running? }
        assert_predicate process.status, :success?
        assert_path_exists socket
      ensure
        FileUtils.rm_f(%w[in go].map { |name| "#{@directory}/#{name}" })
      end
    end
  end

  # Raised NameError: the command knew no other by its class.
  def test_the_version
    %w[--version -V --vers].each do |flag|
      serving_process(flag) do |process|
        eventually("its end") { !process.running? }
        assert_equal [0, ""], [process.status.exitstatus, process.err]
        assert_equal "cuttle #{Cuttle::VERSION}", process.out[/\A\S+ \S+/]
      end
    end
  end

  def test_a_directory_of_files
    File.write("#{@directory}/page.txt", "text")
    serving_process(@directory, forked: true) do |process|
      assert_equal "text", get(process, "/page.txt").body
      assert_equal 404, get(process, "/nothing").status
    end
  end

  def test_a_directory_of_files_in_the_directory_to_serve_in
    Dir.mkdir("#{@directory}/public")
    File.write("#{@directory}/public/page.txt", "text")
    serving_process("public", "--dir", @directory, forked: true) do |process|
      assert_equal "text", get(process, "/page.txt").body
    end
  end

  def test_files_before_the_app
    path = rackup(HELLO)
    Dir.mkdir("#{@directory}/public")
    File.write("#{@directory}/public/page.txt", "text")
    serving_process(path, "--docroot", "#{@directory}/public", "-e", "staging", forked: true) do |process|
      assert_equal "text", get(process, "/page.txt").body
      assert_equal "Hello from staging", get(process, "/other").body
    end
  end

  def test_connections_persist_or_not
    { %w[--engine single] => "close", %w[--engine single --keep-alive] => nil, %w[--no-keep-alive] => "close" }
      .each do |flags, expected|
        serving_process(rackup(HELLO), *flags, forked: true) do |process|
          client(process) do |client|
            answer = client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").response
            expected ? assert_equal(expected, answer["connection"], flags) : assert_nil(answer["connection"], flags)
          end
        end
      end
  end

  def test_the_environments_variables
    variables = { "RAILS_MAX_THREADS" => "2", "APP_ENV" => "production" }
    serving_process(rackup(HELLO), env: variables, forked: true) do |process|
      assert_match(/threads +2:2/, process.out)
      assert_equal "Hello from production", get(process).body
    end
  end

  def test_requests_are_logged
    serving_process(rackup(HELLO), "-v", forked: true) do |process|
      get(process, "/logged?a=b")
      line = %r{^127\.0\.0\.1 - - \[.*\] "GET /logged\?a=b HTTP/1\.1" 200 \d+ \d+\.\d{4}$}
      eventually("the line") { process.out.match?(line) }
    end
  end

  # The line was written when the connection had its next request, and had the status of that one's response.
  def test_each_line_of_the_log_is_about_its_own_request
    app = <<~'RUBY'
      Slow = Struct.new(:text) do
        def each = yield(text)
        def close = sleep(0.02) # after the response has gone out
      end
      run lambda { |env|
        size = env["PATH_INFO"][/\d+/].to_i
        [size % 2_000 == 0 ? 200 : 404, { "content-length" => size.to_s }, Slow.new("x" * size)]
      }
    RUBY
    serving_process(rackup(app), "-v", "-t", "3", forked: true) do |process|
      WireClient.open(process.port) do |client|
        client.write((1..40).map { |number| "GET /#{number}000 HTTP/1.1\r\nHost: a\r\n\r\n" }.join)
        40.times { client.response }
      end
      eventually("the lines") { process.out.scan(%r{"GET /\d+ HTTP.*\n}).size == 40 }
      process.out.scan(%r{"GET /(\d+) HTTP/1.1" (\d+) (\d+)}) do |size, status, octets|
        assert_equal (size.to_i % 2_000).zero? ? 200 : 404, status.to_i, process.out
        assert_includes size.to_i..(size.to_i + 400), octets.to_i, process.out # its head may count
      end
    end
  end

  def test_a_port_in_use
    serving_process(rackup(HELLO), forked: true) do |process|
      assert_fails(rackup(HELLO), "-p", process.port.to_s,
                   line: "can't listen on tcp://127.0.0.1:#{process.port}: the port is in use")
    end
  end

  def test_a_rackup_file_that_raises
    path = rackup("raise 'out of ink'")
    assert_fails(path, line: "#{path}:1: out of ink (RuntimeError)")
    assert_fails(path, "-w", "2", line: "#{path}:1: out of ink (RuntimeError)")
  end

  # It never listens; before anything of the app is loaded.
  def test_an_option_that_the_engine_can_not_keep
    %w[single threads].each do |engine|
      serving_process(rackup("raise 'loaded'"), "--engine", engine, "--app-timeout", "3", forked: true) do |process|
        refute process.running?
        assert_equal [2, ""], [process.status.exitstatus, process.out]
        assert_match(/\Acuttle: engine #{engine} .*: leave out --app-timeout, or use --engine .*\n.*\n\z/, process.err)
      end
    end
  end

  private

  # What a process that begins in the block inherits.
  def inheriting(signal, handler)
    previous = trap(signal, handler)
    yield
  ensure
    trap(signal, previous || "DEFAULT")
  end

  def rackup(text)
    "#{@directory}/config.ru".tap { |path| File.write(path, text) }
  end

  def assert_fails(*args, line:)
    serving_process(*args, forked: true) do |process|
      refute process.running?
      assert_equal [1, "", "cuttle: #{line}\n"], [process.status.exitstatus, process.out, process.err]
    end
  end
end

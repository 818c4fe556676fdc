# frozen_string_literal: true

require "test_helper"
require "stringio"
require "tempfile"

class TestAccessLog < Minitest::Test
  Answered = Struct.new(:env, :status, :bytes_sent, :remote_address, :times)

  ENVIRONMENT = { "REQUEST_METHOD" => "GET", "PATH_INFO" => "/topics", "QUERY_STRING" => "page=2", "SCRIPT_NAME" => "",
                  "SERVER_PROTOCOL" => "HTTP/1.1" }.freeze

  LINE = %r{\A127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "([^"]*)" 200 1843 0\.0042\n\z}

  def test_a_line
    assert_equal "GET /topics?page=2 HTTP/1.1", record[LINE, 1]
  end

  def test_controls_quotes_and_terminal_escapes_are_escaped
    line = record({ "PATH_INFO" => "/\e]2;owned\a\r\n\"\\\x9b\u00e9\x7f" })
    assert_equal 'GET /\x1b]2;owned\x07\x0d\x0a\x22\x5c\x9b\xc3\xa9\x7f?page=2 HTTP/1.1', line[LINE, 1]
    assert_equal 1, line.count("\n")
  end

  def test_a_line_stays_below_the_size_that_pipes_take_whole
    line = record({ "PATH_INFO" => "/#{"x" * 100_000}" })
    assert_includes 2000..4096, line.bytesize
    assert_match LINE, line
    assert_includes 2000..4096, record({ "PATH_INFO" => "/#{"\xff" * 100_000}" }).bytesize
  end

  # Both were tried again without end: there was nothing to cut.
  def test_a_format_that_is_longer_than_a_line_is_cut
    ["%s #{"x" * 5_000}", "%t" * 200].each do |format|
      line = record({}, format: format)
      assert_equal [4096, 1], [line.bytesize, line.count("\n")]
    end
  end

  def test_a_user_cannot_forge_fields
    line = record({ "REMOTE_USER" => "root - \"\n" })
    assert_includes line, ' root\x20-\x20\x22\x0a ['
  end

  def test_a_peer_without_an_address
    assert_match(/\A- - - \[/, record({}, answered(remote_address: "")))
  end

  def test_a_response_that_never_was
    assert_match(%r{HTTP/1.1" - 0 -\n\z}, record({}, answered(status: nil, bytes_sent: 0, times: [1.0] + [nil] * 5)))
  end

  def test_nobody_reads_any_more
    reader, writer = IO.pipe
    log = Cuttle::Telemetry::AccessLog.new(writer)
    reader.close
    assert_nil log.record(log.request(ENVIRONMENT), ENVIRONMENT, answered)
  end

  def test_combined
    line = record({ "HTTP_REFERER" => "http://a/\"", "HTTP_USER_AGENT" => nil }, format: "combined")
    assert_match(%r{ "GET /topics\?page=2 HTTP/1.1" 200 1843 "http://a/\\x22" "-" 0\.0042\n\z}, line)
  end

  def test_directives
    env = { "SCRIPT_NAME" => "/app", "CONTENT_TYPE" => "a/b", "HTTP_X_REQUEST_ID" => "7" }
    assert_equal "127.0.0.1 GET /app/topics ?page=2 HTTP/1.1 200 1843 4200 0.0042 #{Process.pid} 7 a/b 100%\n",
                 record(env, format: "%h %m %U %q %H %s %b %D %T %P %I %{Content-Type}i 100%%")
    assert_equal "- - -\n", record({}, answered(bytes_sent: 0), format: "%b %I %{X-None}i")
  end

  # Rails forces an encoding upon fields, and a middleware may change one in place.
  def test_an_app_that_changes_strings_of_its_env
    %w[combined json %I].each do |format|
      output = StringIO.new
      log = Cuttle::Telemetry::AccessLog.new(output, format: format, ids: true)
      env = ENVIRONMENT.merge("HTTP_REFERER" => +"http://a.test/", "HTTP_USER_AGENT" => +"agent")
      request = log.request(env)
      env.each_value { |value| value.replace("changed") unless value.frozen? }
      log.record(request, env, answered)
      refute_includes output.string, "changed"
    end
  end

  def test_json
    line = record({ "PATH_INFO" => "/\xff\e\u00e9\x7f\"", "REMOTE_USER" => "a b" }, format: "json")
    assert line.match?(/\A[ -~]+\n\z/), line
    object = JSON.parse(line)
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d\z/, object.delete("time"))
    assert_equal({ "remote" => "127.0.0.1", "user" => "a b", "method" => "GET", "path" => "/\\xff\e\u00e9\x7f\"",
                   "query" => "?page=2", "protocol" => "HTTP/1.1", "status" => 200, "bytes" => 1843,
                   "seconds" => 0.0042, "pid" => Process.pid }, object)
    long = record({ "PATH_INFO" => "/#{"\e" * 9000}", "HTTP_REFERER" => "\u00e9" * 9000 }, format: "json")
    assert_operator long.bytesize, :<=, 4096
    assert_operator JSON.parse(long)["path"], :start_with?, "/\e\e\e"
  end

  def test_what_is_no_format
    { "%x" => "%x", "%{a" => "%{a", "plain" => nil, "%h\n" => nil, "%{}i" => "%{}i", "" => nil }.each do |text, wrong|
      error = assert_raises(ArgumentError, text) { Cuttle::Telemetry::LogFormat.check(text) }
      wrong ? assert_operator(error.message, :end_with?, "there is no #{wrong}") : refute_includes(error.message, ";")
    end
    formats = ["common", "combined", "json", "%h", "%%%m"]
    assert_equal formats, formats.map { |text| Cuttle::Telemetry::LogFormat.check(text) }
  end

  def test_a_request_gets_an_id
    env = ENVIRONMENT.dup
    line = logged(format: "%I", ids: true) { |log| log.record(log.request(env), env, answered) }
    assert_match(/\A\h{8}-\h{4}-4\h{3}-[89ab]\h{3}-\h{12}\n\z/, line)
    assert_equal env["HTTP_X_REQUEST_ID"], line.chomp
    env["HTTP_X_REQUEST_ID"] = "given"
    assert_equal "given\n", logged(format: "%I", ids: true) { |log| log.record(log.request(env), env, answered) }
  end

  def test_a_sample_and_every_failure
    lines = logged(format: "%s", sample: 0.2) do |log|
      1000.times { log.record(log.request(ENVIRONMENT), ENVIRONMENT, answered) }
      10.times { log.record(log.request(ENVIRONMENT), ENVIRONMENT, answered(status: 503)) }
    end.lines.tally
    assert_equal 10, lines["503\n"]
    assert_includes 100..300, lines["200\n"] # 7.9 standard deviations
    none = logged(sample: 0) { |log| log.record(log.request(ENVIRONMENT), ENVIRONMENT, answered) }
    assert_empty none
  end

  def test_lines_of_processes_do_not_mix
    Tempfile.create("access") do |file|
      file = File.open(file.path, "a")
      log = Cuttle::Telemetry::AccessLog.new(file)
      pids = Array.new(4) do |index|
        fork do
          env = ENVIRONMENT.merge("PATH_INFO" => "/#{index.to_s * 500}")
          300.times { log.record(log.request(env), env, answered) }
          exit!(0)
        end
      end
      pids.each { |pid| assert Process.wait2(pid).last.success? }
      lines = File.readlines(file.path)
      assert_equal 1200, lines.length
      assert(lines.all? { |line| line.match?(%r{"GET /(\d)\1{499}\?page=2 HTTP/1.1" 200 1843 0\.0042$}) })
    end
  end

  private

  def answered(**values)
    Answered.new(ENVIRONMENT, 200, 1843, "127.0.0.1", [1.0, 2.0, 2.0, 2.0, 2.004, 2.0042])
            .tap { |answer| values.each { |name, value| answer[name] = value } }
  end

  def record(env = {}, connection = answered, **options)
    env = ENVIRONMENT.merge(env)
    logged(**options) { |log| log.record(log.request(env), env, connection) }
  end

  def logged(**options)
    io = StringIO.new
    yield Cuttle::Telemetry::AccessLog.new(io, **options)
    io.string
  end
end

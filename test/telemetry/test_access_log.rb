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
    line = record("PATH_INFO" => "/\e]2;owned\a\r\n\"\\\x9b\u00e9\x7f")
    assert_equal 'GET /\x1b]2;owned\x07\x0d\x0a\x22\x5c\x9b\xc3\xa9\x7f?page=2 HTTP/1.1', line[LINE, 1]
    assert_equal 1, line.count("\n")
  end

  def test_a_line_stays_below_the_size_that_pipes_take_whole
    line = record("PATH_INFO" => "/#{"x" * 100_000}")
    assert_equal 4096, line.bytesize
    assert_match LINE, line
  end

  def test_a_user_cannot_forge_fields
    line = record("REMOTE_USER" => "root - \"\n")
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
    assert_nil log.record("GET / HTTP/1.1", ENVIRONMENT, answered)
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

  def record(env = {}, connection = answered)
    env = ENVIRONMENT.merge(env)
    logged { |log| log.record(log.request(env), env, connection) }
  end

  def logged
    io = StringIO.new
    yield Cuttle::Telemetry::AccessLog.new(io)
    io.string
  end
end

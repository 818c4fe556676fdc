# frozen_string_literal: true

require "test_helper"

# The access log of a server that runs: one line for each request, once it is over, however it ends.
class TestAccessLines < Minitest::Test
  include Serving

  # What the line says behind the request; nil: nothing, for the response is not the server's.
  ENDS = { "array" => " 200 ", "each" => " 200 ", "stream" => " 200 ", "later" => " 200 ", "partial" => " 200 ",
           "full" => " - ", "raise" => " 500 ", "cut" => " 200 ", "changed" => " 200 ", "default" => " 200 ",
           "kill" => / (-|500) / }.freeze

  LINE = /\A127\.0\.0\.1 - - \[[^\]]+\] "GET (\S+) HTTP\/1\.1"( \S+ )(\d+) (\d+\.\d{4}|-)\n\z/

  Serving::ENGINES.each do |engine|
    define_method("test_one_line_for_each_request_under_#{engine}") do
      logging(engine) do |process|
        2.times { ENDS.each_key { |name| ask(process, "/#{name}?query") } }
        ask(process, "/file.txt")
        eventually("a line for each: #{process.out}") { lines(process).size >= (2 * ENDS.size) + 1 }
        ask(process, "/array?last")
        eventually("the last line") { process.out.include?("array?last") }
        assert_lines lines(process)
      end
    end
  end

  # They waited in memory, and were lost.
  def test_lines_that_wait_for_their_reader_when_the_server_stops
    reader, writer = IO.pipe
    waits, tell = IO.pipe
    pid = fork { stop_before_the_reader_reads(writer, tell) }
    [writer, tell].each(&:close)
    assert_equal ".", waits.read(1)
    assert_equal (0..39).to_a, reader.read.scan(%r{"GET /(\d+)/x}).flatten.map(&:to_i)
  ensure
    [reader, waits].each(&:close)
    Process.wait(pid)
  end

  private

  # In a child: a server writes more lines than a pipe takes, and stops. It waits longer than others do, and says so.
  def stop_before_the_reader_reads(writer, tell)
    $stdout.reopen(writer)
    writer.close
    Cuttle::Telemetry::Output.singleton_class.prepend(Module.new do
      define_method(:flush) { |*| tell.write(".") && super(PATIENCE) }
    end)
    serving(->(_env) { [200, {}, []] }, log_requests: true) do |server|
      40.times { |number| get(server, "/#{number}/#{"x" * 3000}") }
    end
  ensure
    exit!(0)
  end

  def assert_lines(lines)
    counts = lines.map { |line| line[LINE, 1] || flunk(line) }.tally
    assert_equal ENDS.to_h { |name, _| ["/#{name}?query", 2] }.merge("/file.txt" => 1, "/array?last" => 1), counts
    lines.each do |line|
      name = line[LINE, 1][/\w+/]
      assert_operator ENDS.fetch(name, " 200 "), :===, line[LINE, 2], line
    end
    later = lines.find { |line| line.include?("/later") }
    assert_operator later[LINE, 3].to_i, :>, 5000, "of the whole stream: #{later}"
    assert_operator later[LINE, 4].to_f, :>=, 0.05, later
  end

  def logging(engine)
    Dir.mktmpdir("cuttle") do |root|
      File.write("#{root}/file.txt", "a file")
      app = "#{__dir__}/access_log_app.ru"
      flags = ["--engine", engine, "--log-requests", "--docroot", root]
      serving_process(app, *flags, forked: true) { |process| yield process }
    end
  end

  def lines(process) = process.out.lines.select { |line| line.include?("HTTP/1.1") }

  # Whatever comes of it.
  def ask(process, target)
    WireClient.open(process.port) do |client|
      client.write("GET #{target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").rest
    end
  end
end

# frozen_string_literal: true

require "test_helper"
require "fcntl"
require "tempfile"

# What writes a log: it never waits for the reader of that.
class TestOutput < Minitest::Test
  include Eventually

  Output = Cuttle::Telemetry::Output
  LINE = "#{"x" * 99}\n"

  def test_a_reader_that_does_not_read_holds_up_nobody_and_gets_all_that_was_kept
    reader, output = pipe
    count = 50_000
    count.times { |number| output.write(format("%07d %s", number, LINE)) }
    dropped = output.dropped
    assert_operator dropped, :>, 0
    lines = read(reader) { |text| text.include?("dropped") }
    assert_equal "cuttle: #{dropped} lines were dropped, for the reader of this log is too slow\n", lines.pop
    assert_equal count - dropped, lines.length
    assert_equal lines.sort, lines
    assert(lines.all? { |line| line.length == 108 })
    output.write("again\n")
    assert_equal "again\n", reader.gets
    assert_equal 0, output.dropped
  end

  def test_others_that_share_the_description_still_wait
    reader, writer = IO.pipe
    writer.fcntl(Fcntl::F_SETFL, writer.fcntl(Fcntl::F_GETFL) & ~File::NONBLOCK)
    Output.new(writer).write("a\n")
    assert_equal "a\n", reader.gets
    assert_equal 0, writer.fcntl(Fcntl::F_GETFL) & File::NONBLOCK
  end

  def test_nobody_reads_any_more
    reader, output = pipe
    reader.close
    3.times { assert_nil output.write(LINE) }
    assert_equal 0, output.dropped
  end

  def test_a_forked_process_does_not_write_what_waits_in_its_parent
    reader, output = pipe
    2000.times { |number| output.write(format("%07d %s", number, LINE)) }
    pid = fork do
      output.write("child\n")
      sleep 0.01 until output.dropped.zero?
      exit!(0)
    end
    lines = read(reader) { |text| text.include?("0001999 ") }
    Process.wait(pid)
    lines.concat(read(reader) { |text| text.include?("child") }) unless lines.include?("child\n")
    assert_equal 2001, lines.uniq.length
    assert_equal 2001, lines.length
  end

  def test_a_file_and_a_socket
    Tempfile.create("log") do |file|
      output = Output.new(File.open(file.path, "a"))
      output.write("a\n")
      assert_equal "a\n", File.read(file.path)
    end
    mine, other = UNIXSocket.pair
    Output.new(mine).write("b\n")
    assert_equal "b\n", other.gets
  end

  private

  def pipe
    reader, writer = IO.pipe
    [reader, Output.new(writer)]
  end

  # Lines, until the text satisfies the block.
  def read(reader)
    text = +""
    eventually("the end of the log") do
      text << reader.read_nonblock(1 << 16, exception: false).then { |part| part.is_a?(String) ? part : "" }
      yield(text) && text.end_with?("\n")
    end
    text.lines
  end
end

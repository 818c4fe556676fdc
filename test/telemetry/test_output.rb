# frozen_string_literal: true

require "test_helper"
require "fcntl"
require "tempfile"

# What writes a log: it never waits for the reader of that.
class TestOutput < Minitest::Test
  include Eventually

  Output = Cuttle::Telemetry::Output
  LINE = "#{"x" * 99}\n"

  # As systemd's journal is.
  def test_a_socket_whose_reader_does_not_read
    mine, other = UNIXSocket.pair
    before = waiting(mine).fcntl(Fcntl::F_GETFL)
    thread = Thread.new { assert_keeps_what_it_can(other, Output.new(mine)) }
    eventually("the end of the writes") { !thread.alive? }
    thread.value
    assert_equal before, mine.fcntl(Fcntl::F_GETFL)
  ensure
    thread&.kill
    [mine, other].each(&:close)
  end

  # After `sudo -u app` it can't be opened again. Nor can a process without root's rights open a pipe of its own that
  # lacks permissions.
  def test_a_pipe_of_another_user
    reader, writer = IO.pipe
    written, tell = IO.pipe
    pid = fork do
      reader.close
      File.chmod(0, "/proc/self/fd/#{writer.fileno}")
      Process::Sys.setuid(65_534) if Process.uid.zero?
      write_and_flush(waiting(writer)) { tell.write(".") }
    end
    writer.close
    assert written.wait_readable(PATIENCE), "its writer waits"
    assert_equal 2000, reader.read.lines.uniq.length
  ensure
    [reader, written, tell].each(&:close)
    Process.wait(pid)
  end

  def test_what_waits_is_written_before_the_end
    reader, writer = IO.pipe
    pid = fork { reader.close.then { write_and_flush(writer) } }
    writer.close
    assert_equal 2000, reader.read.lines.uniq.length
  ensure
    reader.close
    Process.wait(pid)
  end

  def test_the_end_waits_for_no_reader_that_does_not_read
    reader, output = pipe
    1000.times { output.write(LINE) }
    Output.flush(0.01)
    assert_operator reader.read_nonblock(1 << 20).lines.length, :<, 1000
  end

  def test_a_reader_that_does_not_read_holds_up_nobody_and_gets_all_that_was_kept
    assert_keeps_what_it_can(*pipe)
  end

  def test_others_that_share_the_description_still_wait
    reader, writer = IO.pipe
    Output.new(waiting(writer)).write("a\n")
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

  # Of many lines.
  def assert_keeps_what_it_can(reader, output)
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

  # In a child: writes more than a pipe takes, says so, and ends as a server does, but with more patience.
  def write_and_flush(writer)
    output = Output.new(writer)
    2000.times { |number| output.write(format("%07d %s", number, LINE)) }
    yield if block_given?
    Output.flush(PATIENCE)
  ensure
    exit!(0)
  end

  # +io+ as a process gets it from others: Ruby makes pipes and sockets with O_NONBLOCK.
  def waiting(io)
    io.fcntl(Fcntl::F_SETFL, io.fcntl(Fcntl::F_GETFL) & ~File::NONBLOCK)
    io
  end

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

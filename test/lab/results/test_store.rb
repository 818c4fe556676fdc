# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# The file of a running lab, through what ends labs: a crash in the middle of a line, a full disk, another lab.
class TestLabStore < Minitest::Test
  include TemporaryDirectory

  Store = Cuttle::Lab::Results::Store
  Results = Cuttle::Lab::Results
  Failure = Cuttle::Lab::Failure

  def setup
    @results = File.join(@directory, "lab-results", "20261121-105500")
    @lab = SyntheticLab.new(%w[single hybrid], blocks: 2) { |_, _, block, _| 100.0 + block }
  end

  def test_each_line_is_there_as_soon_as_it_is_appended
    store = Store.create(@results, @lab.header)
    @lab.records.each_with_index do |record, index|
      store.append(record)
      assert_equal [@lab.header, *@lab.records.first(index + 1)], lines
    end
  ensure
    store&.close
  end

  def test_create_keeps_what_is_there
    create.close
    error = assert_raises(Failure) { Store.create(@results, @lab.header) }

    assert_match(/already exists/, error.message)
    assert_equal 6, lines.length
  end

  def test_resume_goes_on
    create(2).close
    store = Store.resume(@results)
    @lab.records.drop(2).each { |record| store.append(record) }
    store.close

    assert_equal [@lab.header, *@lab.records], lines
  end

  # At every octet of the last line, as a crash may leave it.
  def test_resume_cuts_off_a_torn_line
    create(3).close
    whole = File.binread(path)
    last = whole.rindex("\n", -2) + 1
    (last..whole.bytesize - 2).each do |size|
      File.binwrite(path, whole.byteslice(0, size))
      Store.resume(@results).append(@lab.records[3]).close
      assert_equal [@lab.header, *@lab.records.first(2), @lab.records[3]], lines, "cut at #{size}"
    end
  end

  def test_resume_keeps_a_line_that_lacks_its_end_only
    create(3).close
    File.truncate(path, File.size(path) - 1)
    Store.resume(@results).append(@lab.records[3]).close

    assert_equal [@lab.header, *@lab.records.first(4)], lines
  end

  def test_nothing_to_resume
    assert_match(/no results to resume/, assert_raises(Failure) { Store.resume(@results) }.message)
    FileUtils.mkdir_p(@results)
    File.write(path, "{\"type\":\"la")
    assert_match(/line 1/, assert_raises(Failure) { Store.resume(@results) }.message)
  end

  def test_two_labs_can_not_write_at_once
    store = create
    error = assert_raises(Failure) { Store.resume(@results) }

    assert_match(/another lab is writing/, error.message)
    store.close
    Store.resume(@results).close
  end

  def test_directory_that_can_not_be_made
    File.write(File.join(@directory, "lab-results"), "")
    error = assert_raises(Failure) { Store.create(@results, @lab.header) }

    assert_match(/\Acan't write .*results\.jsonl: .+\z/, error.message)
  end

  # A disk that is full in the middle of a line: a limit on the file's size has the same effect, and needs no disk.
  def test_full_disk_leaves_whole_lines
    create(2).close
    told = in_child_with(File.size(path) + 100) { Store.resume(@results).append(@lab.records[2]) }

    assert_match(/\Acan't write .*results\.jsonl: .+; earlier runs are kept/, told)
    assert_equal [@lab.header, *@lab.records.first(2)], lines
    assert_empty Results.read(@results).damages
    Store.resume(@results).append(@lab.records[2]).close
    assert_equal 4, lines.length
  end

  def test_full_disk_from_the_start_leaves_no_file_in_the_way
    told = in_child_with(10) { Store.create(@results, @lab.header) }

    assert_match(/\Acan't write/, told)
    refute_path_exists path
    create.close
  end

  # The last output of a dying server may be anything, and a mean of no values is not a number.
  def test_values_that_json_can_not_hold
    store = Store.create(@results, @lab.header)
    store.append(type: :failure, reason: "died: \xFF\xC3".b, rate: Float::NAN, high: Float::INFINITY, "at" => nil)
    store.append(type: "warning", text: "\u00e9t\u00e9".encode("ISO-8859-1"))
    store.close

    assert_equal({ "type" => "failure", "reason" => "died: \u{fffd}\u{fffd}", "rate" => nil, "high" => nil,
                   "at" => nil }, lines[1])
    assert_equal "\u00e9t\u00e9", lines[2]["text"]
  end

  private

  def path
    File.join(@results, "results.jsonl")
  end

  def create(count = @lab.records.length)
    store = Store.create(@results, @lab.header)
    @lab.records.first(count).each { |record| store.append(record) }
    store
  end

  def lines
    text = File.read(path)
    assert text.end_with?("\n")
    text.lines.map { |line| JSON.parse(line) }
  end

  # What the block's Failure says, where no file may grow beyond +size+.
  def in_child_with(size)
    reader, writer = IO.pipe
    child = fork { tell(size, writer) { yield } }
    writer.close
    reader.read
  ensure
    reader&.close
    Process.wait(child) if child
  end

  def tell(size, writer)
    trap("XFSZ", "IGNORE")
    Process.setrlimit(:FSIZE, size)
    yield
  rescue Failure => error
    writer.write(error.message)
  ensure
    writer.close
    exit!
  end
end

# frozen_string_literal: true

require "test_helper"
require "socket"

# One suite for both ways of opening a file beneath a root: they keep the same law.
module BeneathContract
  def kind = Cuttle::Beneath

  include DocumentRoot
  include Eventually

  def test_reads_a_file
    put "a/b/file", "0123456789"
    entry = open("a/b/file")
    refute entry.directory?
    assert_equal 10, entry.size
    assert_equal DocumentRoot::OLD.to_i, entry.modified
    assert_equal "2345", entry.read(2, 4)
    assert_equal Encoding::BINARY, entry.read(2, 4).encoding
  end

  def test_reads_less_at_the_end_and_nothing_behind_it
    put "file", "0123456789"
    assert_equal "89", open("file").read(8, 100)
    assert_equal "", open("file").read(10, 1)
    assert_equal "", open("file").read(0, 0)
  end

  def test_refuses_senseless_lengths
    put "file"
    assert_raises(RangeError) { open("file").read(0, -1) }
    assert_raises(RangeError) { open("file").read(0, 2**63) }
    assert_raises(RangeError) { open("file").read(-1, 1) }
  end

  def test_knows_a_directory
    Dir.mkdir("#{@root}/directory")
    assert_predicate open("directory"), :directory?
    assert_predicate open("directory/"), :directory?
    assert_raises(IOError) { open("directory").read(0, 1) }
  end

  def test_finds_nothing_where_nothing_is
    put "file"
    ["", "none", "none/file", "file/", "file/x", "file/.", "x" * 300, "x/" * 2000, "x" * 5000].each do |path|
      assert_nil open(path), path[0, 20]
    end
  end

  def test_a_nul_ends_no_name
    put "file"
    ["file\0", "file\0.html", "\0", "\0file"].each { |path| assert_nil open(path), path.inspect }
  end

  def test_a_path_is_a_string
    assert_raises(TypeError) { open(nil) }
  end

  def test_nothing_climbs_out
    put "a/file"
    ["/etc/passwd", "#{@root}/a/file", "..", "../secret", "a/../../secret", "../root/a/file", "a/../../root/a/file",
     "./../secret"].each { |path| assert_nil open(path), path }
  end

  def test_dots_that_stay_beneath_are_walked
    put "a/file"
    ["./a/file", "a/./file", "a/../a/file", "a//file", "a/b/../file"].each_with_index do |path, index|
      assert_equal index < 4, !open(path).nil?, path
    end
  end

  def test_follows_relative_links_beneath
    put "a/b/file", "found"
    link "a/b/file", "to-file"
    link "../b/file", "a/c/up-and-down"
    link "a", "to-directory"
    link "to-directory/b/", "chain"
    link "../../a/./b/../b/file", "a/b/winding"
    %w[to-file a/c/up-and-down to-directory/b/file chain/file a/b/winding chain/winding].each do |path|
      assert_equal "found", open(path)&.read(0, 9), path
    end
  end

  def test_refuses_links_that_lead_out
    put "a/file"
    { "absolute" => "#{@directory}/secret", "absolute-inside" => "#{@root}/a/file", "up" => "../secret",
      "around" => "../root/a/file", "a/deep" => "../../secret", "directory" => "..", "dangling" => "none",
      "self" => "self", "ping" => "pong", "pong" => "ping" }.each { |name, target| link(target, name) }
    %w[absolute absolute-inside up around a/deep directory/secret directory dangling self ping self/x].each do |path|
      assert_nil open(path), path
    end
  end

  def test_follows_as_many_links_as_a_kernel_does
    put "file"
    link "file", "link1"
    (2..41).each { |n| link("link#{n - 1}", "link#{n}") }
    assert open("link40")
    assert_nil open("link41")
  end

  def test_a_link_at_the_end_means_a_directory_when_a_slash_follows
    put "a/file"
    link "a", "directory"
    link "a/file", "file"
    assert_predicate open("directory/"), :directory?
    assert_nil open("file/")
  end

  def test_neither_waits_for_a_fifo_nor_serves_what_is_no_file
    File.mkfifo("#{@root}/fifo")
    UNIXServer.new("#{@root}/socket").close
    link "fifo", "to-fifo"
    %w[fifo socket to-fifo].each { |path| assert_nil open(path), path }
  end

  def test_what_may_not_be_read_is_not_there
    put "readable"
    File.chmod(0, put("unreadable"))
    as_anybody { assert_equal [true, false], [open("readable"), open("unreadable")].map { |entry| !entry.nil? } }
  end

  def test_the_stamp_changes_with_every_change
    put "file", "one"
    stamps = [open("file").stamp]
    { "content, times set back" => -> { put "file", "two" }, "length" => -> { put "file", "three" },
      "mode" => -> { File.chmod(0o600, "#{@root}/file") }, "another file" => lambda {
        put "new", "three"
        File.rename("#{@root}/new", "#{@root}/file")
      } }.each do |what, change|
      before = stamps.last
      eventually("another stamp after a change of #{what}") do
        change.call # again, until the file system's clock has ticked
        open("file").stamp != before
      end
      stamps << open("file").stamp
    end
    assert_equal stamps.uniq, stamps
  end

  def test_entries_are_equal_while_the_file_is_the_same
    put "file"
    put "other"
    assert_equal open("file"), open("file")
    refute_equal open("file"), open("other")
    refute_equal open("file"), nil
    before = open("file")
    put "file", "longer than before"
    refute_equal before, open("file")
  end

  def test_a_change_of_now_is_not_settled
    put "file"
    refute_predicate open("file"), :settled?
  end

  def test_a_modification_in_the_future_is_of_now
    put "file", modified: Time.now + 86_400
    assert_in_delta Time.now.to_i, open("file").modified, 5
    refute_predicate open("file"), :settled?
  end

  def test_hands_the_file_over_once
    put "file", "content"
    entry = open("file")
    io = entry.hand_over
    entry.close
    assert_equal "content", io.read
    assert_predicate io, :close_on_exec?
    assert_raises(IOError) { entry.hand_over }
  ensure
    io&.close
  end

  def test_a_closed_entry_says_so
    put "file"
    entry = open("file")
    2.times { entry.close }
    assert_raises(IOError) { entry.read(0, 1) }
  end

  def test_leaves_no_descriptor_open
    put "a/b/file"
    link "../b/file", "a/b/link"
    link "../..", "a/out"
    beneath
    before = descriptors
    50.times do
      %w[a/b/file a/b/link a/out/../secret none a].each { |path| open(path)&.close }
    end
    assert_empty descriptors - before # JRuby closes meanwhile what other tests have left
  end

  def test_says_when_descriptors_run_out
    put "file"
    limits = Process.getrlimit(:NOFILE)
    Process.setrlimit(:NOFILE, 64, limits.last)
    assert_raises(Errno::EMFILE) { 64.times { open("file") } }
  ensure
    Process.setrlimit(:NOFILE, *limits)
  end

  def test_follows_the_root_when_it_is_replaced
    put "file", "old"
    assert_equal "old", open("file").read(0, 9)
    File.rename(@root, "#{@directory}/previous")
    eventually("nothing where no root is") { open("file").nil? }
    Dir.mkdir(@root)
    put "file", "new"
    eventually("the new root's file") { open("file")&.read(0, 9) == "new" }
  end

  def test_the_root_may_be_a_link
    put "file", "content"
    File.symlink(@root, "#{@directory}/current")
    assert_equal "content", kind.new("#{@directory}/current", portable).open("file").read(0, 9)
  end

  def test_a_relative_root_stays_what_it_was
    put "file", "content"
    relative = Dir.chdir(@directory) { kind.new("root", portable) }
    assert_equal "content", relative.open("file").read(0, 9)
  end

  def test_the_root_must_be_a_directory
    assert_raises(Errno::ENOENT) { kind.new("#{@directory}/none", portable) }
    assert_raises(Errno::ENOTDIR) { kind.new("#{@directory}/secret", portable) }
    assert_raises(TypeError) { kind.new(nil, portable) }
    assert_raises(ArgumentError) { kind.allocate.open("file") }
  end

  # A swap of names between a check and an opening is the classic way out.
  def test_no_race_of_renames_leads_out
    put "inside/file", "inside"
    FileUtils.mkdir("#{@directory}/inside")
    File.write("#{@directory}/inside/file", DocumentRoot::SECRET)
    FileUtils.cp_r("#{@root}/inside", "#{@root}/turn")
    File.symlink("../inside", "#{@root}/other")
    swapper = fork { swap_a_directory_and_a_link_for_ever }
    seen = Hash.new(0)
    eventually("many reads between renames") do
      3000.times { seen[read("turn/file")] += 1 }
      seen["inside"] > 500 && seen[nil] > 500
    end
    assert_equal ["inside"], seen.keys.compact, "only what is inside was ever read"
  ensure
    Process.kill("KILL", swapper)
    Process.wait(swapper)
  end

  def teardown
    @opened&.each(&:close)
    super
  end

  private

  def swap_a_directory_and_a_link_for_ever
    loop do
      File.rename("#{@root}/turn", "#{@root}/spare")
      File.rename("#{@root}/other", "#{@root}/turn")
      File.rename("#{@root}/spare", "#{@root}/other")
    end
  end

  # The superuser reads everything, and so becomes somebody else, in a process of its own.
  def as_anybody(&block)
    return yield unless Process.uid.zero?

    File.chmod(0o755, @directory)
    pid = fork do
      Process::UID.change_privilege(65_534)
      block.call
      exit!(0)
    rescue Minitest::Assertion => error
      warn error.message
      exit!(1)
    end
    assert_predicate Process.wait2(pid).last, :success?
  end

  def read(path)
    entry = open(path)
    entry&.read(0, 100)
  ensure
    entry&.close
  end

  def beneath
    @beneath ||= kind.new(@root, portable)
  end

  # The entry at +path+, closed when the test ends.
  def open(path)
    beneath.open(path)&.tap { |entry| (@opened ||= []) << entry }
  end

  # A listing's own descriptor is among those listed; it is always the same then.
  def descriptors
    GC.start
    Dir.children("/dev/fd").map(&:to_i).sort
  end
end

class TestBeneathWalk < Minitest::Test
  include BeneathContract

  def test_is_the_way_asked_for
    assert_equal :walk, beneath.way
  end

  def test_climbs_a_bounded_number_of_times
    put "a/file"
    assert open("#{"a/../" * 60}a/file")
    assert_nil open("#{"a/../" * 70}a/file")
  end

  private

  def portable
    true
  end
end

class TestBeneathOpenat2 < Minitest::Test
  include BeneathContract

  def setup
    super
    skip "openat2(2): not on this system" unless beneath.way == :openat2
  end

  private

  def portable
    false
  end
end

# The core in Ruby.
class TestBeneathPure < Minitest::Test
  include BeneathContract

  def kind = Cuttle::Cores::Pure::Beneath
  def portable = true
end

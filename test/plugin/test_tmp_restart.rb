# frozen_string_literal: true

require "test_helper"
require "cuttle/plugin/tmp_restart"

# When the plugin tmp_restart restarts a server whose directory is a link to the newest release.
class TestTmpRestart < Minitest::Test
  include TemporaryDirectory

  def setup
    %w[one two].each { |name| FileUtils.mkdir_p("#{@directory}/#{name}/tmp") }
    lead_to("one")
  end

  def test_a_touch
    file = touched
    refute_predicate file, :again?
    touch("one", Time.now)
    assert_predicate file, :again?
    refute_predicate file, :again?
    touch("one", Time.now - 3600)
    assert_predicate file, :again?, "some tools set the time"
    File.unlink("#{@directory}/one/tmp/restart.txt")
    refute_predicate file, :again?
  end

  def test_a_file_of_the_start_is_old
    touch("one", Time.now)
    refute_predicate touched, :again?
  end

  def test_a_new_release
    [nil, Time.now - 3600].each do |old|
      touch("two", old) if old
      file = touched
      lead_to("two")
      refute_predicate file, :again?, "nobody touched it"
      touch("two", Time.now + 10) # clocks of file systems are coarse
      assert_predicate file, :again?
      refute_predicate file, :again?
      lead_to("one")
    end
  end

  # The program touches the new file before the next look.
  def test_a_touch_with_the_link
    file = touched
    lead_to("two")
    touch("two", Time.now)
    assert_predicate file, :again?
  end

  def test_a_link_that_is_missing_for_a_moment
    touch("one", Time.now - 3600)
    file = touched
    File.unlink("#{@directory}/current")
    refute_predicate file, :again?
    lead_to("one")
    refute_predicate file, :again?
  end

  private

  def touched = Cuttle::Plugin::TmpRestart::Touched.new("#{@directory}/current")

  def lead_to(name)
    FileUtils.rm_f("#{@directory}/current")
    File.symlink(name, "#{@directory}/current")
  end

  def touch(name, time)
    path = "#{@directory}/#{name}/tmp/restart.txt"
    File.write(path, "")
    File.utime(time, time, path)
  end
end

# frozen_string_literal: true

require "test_helper"

# Which name a server's directory has, and which paths follow its link.
class TestRestartDirectory < Minitest::Test
  include TemporaryDirectory

  def setup
    Dir.mkdir("#{@directory}/one")
    Dir.mkdir("#{@directory}/two")
    File.symlink("one", link)
  end

  def test_the_link_of_the_setting_or_of_the_shell
    within("#{@directory}/one", "PWD" => nil) do
      assert_equal link, directory(link).start
      assert_equal "#{@directory}/one", directory.start
      assert_equal "#{@directory}/one", directory("#{@directory}/two").start, "words are relative to the start"
    end
    within("#{@directory}/one", "PWD" => link) { assert_equal link, directory.start }
    within("#{@directory}/one", "PWD" => "#{@directory}/two") { assert_equal "#{@directory}/one", directory.start }
    within("#{@directory}/one", "PWD" => "/no/such") { assert_equal "#{@directory}/one", directory.start }
  end

  def test_where_it_leads_now
    noted = within("#{@directory}/one", "PWD" => link) { directory }
    assert_equal "#{@directory}/one", noted.real
    move_on
    assert_equal "#{@directory}/two", noted.real
  end

  def test_paths_that_follow
    noted = within(@directory) { directory(link) }
    one = "#{@directory}/one"
    two = "#{@directory}/two"
    assert_equal({ "PATH" => "#{one}/bin" }, noted.follow({ "PATH" => "#{one}/bin" }))
    move_on
    { "BUNDLE_GEMFILE" => ["#{one}/Gemfile", "#{two}/Gemfile"],
      "BUNDLE_LOCKFILE" => ["#{one}/Gemfile.lock", "#{two}/Gemfile.lock"],
      "PATH" => ["#{one}/bin:/bin:#{one}", "#{two}/bin:/bin:#{two}"],
      "RUBYOPT" => ["-W0 -r#{one}/setup", "-W0 -r#{two}/setup"],
      "GEM_HOME" => ["/else#{one}/x:#{one}2/x", "/else#{one}/x:#{one}2/x"],
      "RUBYLIB" => ["\xFF#{one}", "\xFF#{one}"],
      "OTHER" => ["#{one}/x", "#{one}/x"] }.each do |name, (before, after)|
      assert_equal({ name => after }, noted.follow({ name => before }))
    end
    assert_equal ["ruby", "#{two}/bin/x", "#{one}/y"], noted.follow_program(["ruby", "#{one}/bin/x", "#{one}/y"])
  end

  def test_a_directory_without_a_link
    within(@directory, "PWD" => nil) do
      assert_equal({ "PATH" => "#{@directory}/x" }, directory.follow({ "PATH" => "#{@directory}/x" }))
    end
  end

  private

  def link = "#{@directory}/current"

  def move_on
    File.unlink(link)
    File.symlink("two", link)
  end

  def directory(...) = Cuttle::Restart::Directory.new(...)

  def within(path, variables = {})
    before = ENV.to_h
    ENV.update(variables)
    Dir.chdir(path) { yield }
  ensure
    ENV.replace(before)
  end
end

# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require_relative "../lab/support/synthetic_lab"
require_relative "support/made_up"

# Changes to a configuration file: only the three words, and only where the file says them plainly.
class TestEdit < Minitest::Test
  include MadeUp
  include TemporaryDirectory

  def edit(text, name = "cuttle.rb")
    path = File.join(@directory, name)
    text ? File.write(path, text) : FileUtils.rm_f(path)
    Tuner::Edit.new(path)
  end

  # Without it, the answer would break the limit of database connections for which it was measured.
  def test_fibers_have_their_limit
    path = File.join(@directory, "cuttle.rb")
    ["engine :hybrid\n", "engine :hybrid\nmax_fibers 500\n"].each do |text|
      File.write(path, text)
      limited, free = [10, nil].map { |number| Tuner::Edit.new(path, max_fibers: number) }
      assert_includes limited.text(setting("fibers")), "max_fibers 10\n"
      refute_includes limited.text(setting("hybrid", 0, 3)), "max_fibers 10"
      refute_includes free.text(setting("fibers")), "max_fibers 10"
    end
  end

  def test_only_the_words_change
    text = <<~RUBY
      # Ours.
      port 3000
      workers 2 # two
      threads 1, 5
      before_fork { client.workers 9 }
    RUBY
    assert_equal text.sub("workers 2", "workers 4").sub("threads 1, 5", "threads 3"),
                 edit(text).text(setting("hybrid", 4, 3))
    assert_equal "engine \"threads\"\nworkers 2\nthreads 5\n",
                 edit("engine :threads\nworkers 0\nthreads 3\n").text(setting("threads", 2, 5))
    assert_equal text.sub("workers 2", "workers 0").sub(/(threads.*)/, "\\1\nengine \"fibers\""),
                 edit(text).text(setting("fibers", 0))
  end

  # Before anything is measured for it.
  def test_a_place_that_can_not_be_written_is_refused
    FileUtils.mkdir_p(["#{@directory}/directory.rb", "#{@directory}/closed"])
    File.write("#{@directory}/file", "")
    File.chmod(0o500, "#{@directory}/closed")
    places = { "directory.rb" => /directory/i, "file/cuttle.rb" => /not a directory/i, "new/config/cuttle.rb" => nil }
    places["closed/new/cuttle.rb"] = /permission denied/i unless Process.uid.zero?
    places.each do |name, reason|
      refusal = Tuner::Edit.new("#{@directory}/#{name}").refusal(setting)
      reason ? assert_match(/#{name}: .*#{reason}/, refusal) : assert_nil(refusal)
    end
  ensure
    File.chmod(0o700, "#{@directory}/closed")
  end

  # It is a link to a file that only its owner may read, as some deployments have it.
  def test_a_full_disk_leaves_the_file_as_it_was
    File.write("#{@directory}/shared.rb", text = "workers 2\n")
    File.chmod(0o600, "#{@directory}/shared.rb")
    File.symlink("shared.rb", "#{@directory}/cuttle.rb")
    edit = Tuner::Edit.new("#{@directory}/cuttle.rb")
    full = lambda do |path, *|
      File.open(path, "w", &:close)
      raise Errno::ENOSPC
    end
    error = File.stub(:write, full) { assert_raises(Tuner::Failure) { edit.write(setting("hybrid", 4, 3)) } }
    assert_match(/can't write .*cuttle\.rb: no space left/i, error.message)
    assert_equal [text, %w[cuttle.rb shared.rb]], [File.read(edit.path), Dir.children(@directory).sort]
    edit.write(setting("hybrid", 4, 3))
    assert_equal "workers 4\nthreads 3\n", File.read("#{@directory}/shared.rb")
    assert_equal [true, 0o600], [File.symlink?(edit.path), File.stat(edit.path).mode & 0o777]
  end

  # It has other CPUs in production.
  def test_workers_auto_stay_where_they_are_as_many
    Cuttle::Lab::Machine::Cores.stub(:usable, [0, 1, 2, 3]) do
      [":auto", '"auto"'].each do |auto|
        assert_equal "workers #{auto} # CPUs\nthreads 5\n",
                     edit("workers #{auto} # CPUs\nthreads 3\n").text(setting("hybrid", 4, 5))
      end
      assert_equal "workers 2\nthreads 5\n", edit("workers :auto\nthreads 3\n").text(setting("hybrid", 2, 5))
      assert_equal "workers 4\nthreads 5\n", edit("workers 2\nthreads 3\n").text(setting("hybrid", 4, 5))
      computed = edit("workers ENV.fetch('N', :auto)\nthreads 3\n")
      assert_match(/:1: workers depends on /, computed.refusal(setting("hybrid", 4, 5)))
      assert_nil edit("workers :auto\n").remark(setting("hybrid", 4, 5))
      assert_nil edit("workers 4\n").remark(setting("hybrid", 2, 5))
      assert_match(/cuttle\.rb:2: workers :auto is a worker for each CPU of a machine; workers 2 is the answer for /,
                   edit("port 1\nworkers :auto\n").remark(setting("hybrid", 2, 5)))
    end
  end

  # The answer for three cores is one for a machine of three CPUs.
  def test_workers_auto_stay_where_the_answer_has_one_for_each_core
    edit("workers :auto\nthreads 3\n")
    Cuttle::Lab::Machine::Cores.stub(:usable, [0, 1, 2, 3]) do
      edit = Tuner::Edit.new("#{@directory}/cuttle.rb", cores: 3)
      assert_equal ["workers :auto\nthreads 5\n", "workers 4\nthreads 5\n"],
                   [3, 4].map { |workers| edit.text(setting("hybrid", workers, 5)) }
    end
  end

  # Also where the locale is C, as in a container.
  def test_the_rest_of_a_line_may_have_any_letters
    text = "# für alle\ntag \"grün\"; workers 2 # größer\nthreads 1, 5 # für ‚heute‘\n"
    wanted = text.sub("workers 2", "workers 4").sub("threads 1, 5", "threads 3")
    locale = Encoding.default_external
    [locale, Encoding::US_ASCII].each do |encoding|
      suppress { Encoding.default_external = encoding }
      assert_equal wanted, edit(text).text(setting("hybrid", 4, 3))
      assert_includes edit(text).diff(setting("hybrid", 4, 3)), "+threads 3 # für ‚heute‘"
    end
  ensure
    suppress { Encoding.default_external = locale }
  end

  def suppress
    verbose, $VERBOSE = $VERBOSE, nil
    yield
  ensure
    $VERBOSE = verbose
  end

  def test_lines_may_end_as_on_windows
    assert_equal "workers 4 # two\r\nthreads 3\r\nport 1\r\n",
                 edit("workers 2 # two\r\nthreads 1\r\nport 1\r\n").text(setting("hybrid", 4, 3))
  end

  def test_what_goes_with_threads_auto_leaves_with_it
    text = "workers 2\nthreads :auto # as they help\nmax_threads 16\nport 3000\n"
    assert_equal "workers 2\nthreads 5 # as they help\nport 3000\n", edit(text).text(setting("hybrid", 2, 5))
    assert_equal "workers 2\nengine \"fibers\"\nport 3000\n", edit(text).text(setting("fibers", 2))
    assert_match(/cuttle\.rb:2: max_threads depends on something.*; remove it by hand\z/,
                 edit("threads :auto\nmax_threads 16 if ENV[\"X\"]\n").refusal(setting("hybrid", 0, 5)))
  end

  # The whole line would be removed.
  def test_what_shares_its_line_is_not_removed
    ["engine \"hybrid\"; workers 2; threads :auto; max_threads 10\n", "threads :auto; max_threads 10\nworkers 2\n",
     "max_threads 10; port 3000\nthreads :auto\n"].each do |text|
      assert_match(/cuttle\.rb:1: max_threads .* not on a line of its own; remove it by hand\z/,
                   edit(text).refusal(setting("hybrid", 2, 6)).to_s, text)
    end
    assert_equal "threads 6\nworkers 2\n",
                 edit("threads :auto\n  max_threads(10) # pool\n").text(setting("hybrid", 2, 6))
    assert_equal "threads :auto; max_threads 9; workers 2\n",
                 edit("threads :auto; max_threads 10; workers 0\n").text(auto(2, 9)), "what stays may share it"
  end

  def test_threads_auto_are_written_with_their_limit
    assert_equal "workers 2\nthreads :auto # three\n", edit("workers 0\nthreads 3 # three\n").text(auto(2))
    assert_equal "threads :auto\nmax_threads 9\nworkers 2\nport 1\n",
                 edit("threads :auto\nmax_threads 16\nworkers 0\nport 1\n").text(auto(2, 9))
    new = edit(nil)
    new.write(auto(2, 9))
    values = Cuttle::Configuration.read(new.path).values
    assert_equal [2, 9], values.values_at(:workers, :max_threads)
    assert_kind_of Cuttle::Engines::Auto, values[:threads]
    assert_match(/write "max_threads 9" there by hand\z/,
                 edit("threads :auto\nmax_threads 16 if ENV[\"X\"]\n").refusal(auto(0, 9)))
  end

  # They take no workers, and are one for each CPU if the file says nothing.
  def test_ractors_are_written_in_place_of_workers
    assert_equal "threads 5\nengine \"ractors\"\nractors 4\n",
                 edit("workers 2 # two\nthreads 1\n").text(setting("ractors", 4, 5))
    assert_equal "engine \"ractors\"\nractors 1\nthreads 5\n",
                 edit("engine :ractors\nractors 8\nthreads 1\n").text(setting("ractors", 0, 5))
    assert_match(/:1: workers depends on .*; remove it by hand\z/,
                 edit("workers ENV['N']\n").refusal(setting("ractors", 4, 5)))
    assert_equal "engine \"hybrid\"\nthreads 5\nworkers 2\n",
                 edit("engine :ractors\nractors 8\nthreads 1\n").text(setting("hybrid", 2, 5))
    new = edit(nil)
    new.write(setting("ractors", 4, 5))
    assert_equal [nil, 4], Cuttle::Configuration.read(new.path).values.values_at(:workers, :ractors)
  end

  # What it says last counts.
  def test_a_file_that_is_loaded_does_not_undo_the_change
    assert_equal "load \"shared.rb\"\nworkers 2\nthreads 3\n",
                 edit("load \"shared.rb\"\nworkers 0\n").text(setting("hybrid", 2, 3))
    assert_equal "port 1\nload \"shared.rb\"\nworkers 2\nthreads 3\ntag \"a\"\n",
                 edit("port 1\nload \"shared.rb\"\ntag \"a\"\n").text(setting("hybrid", 2, 3))
    assert_match(/cuttle\.rb:2: load takes precedence over workers above it: move workers below it\z/,
                 edit("workers 0\nload \"shared.rb\"\n").refusal(setting("hybrid", 2, 3)))
  end

  def test_words_that_are_missing_are_added
    assert_equal "port 1\nworkers 2\nthreads 3\n", edit("port 1").text(setting("hybrid", 2, 3))
    assert_equal "workers(4)\nengine \"hybrid\"\nthreads 3\n".sub("workers(4)", "workers 4"),
                 edit("workers(2)\nengine :single").text(setting("hybrid", 4, 3))
    assert_equal "#{Tuner::Edit::NEW}workers 2\nthreads 3\n", edit(nil).text(setting("hybrid", 2, 3))
  end

  def test_of_a_word_that_stands_twice_the_last_one_counts
    assert_equal "workers 1\nworkers 3\nthreads 1\n", edit("workers 1\nworkers 2\n").text(setting("hybrid", 3, 1))
  end

  # What it writes is what the configuration reads.
  def test_the_result_is_a_configuration
    before = edit("port 4000\nengine :single\nworkers 8\n")
    before.write(setting("hybrid", 2, 5))
    values = Cuttle::Configuration.read(before.path).values
    assert_equal [4000, "hybrid", 2, 5..5], values.values_at(:port, :engine, :workers, :threads)
    new = Tuner::Edit.new(File.join(@directory, "config/cuttle.rb"))
    new.write(setting("fibers", 3))
    assert_equal ["fibers", 3], Cuttle::Configuration.read(new.path).values.values_at(:engine, :workers)
  end

  def test_what_the_file_computes_or_decides_is_refused
    ["workers ENV.fetch('N', 2)\n", "workers 2 if ENV['X']\n", "if ENV['X']\n  workers 2\nend\n", "workers count\n",
     "workers(\n  2\n)\n", "workers 2 + 1\n"].each do |text|
      edit = edit("port 3000\n#{text}")
      reason = edit.refusal(setting("hybrid", 4, 3))
      assert_match(/cuttle\.rb:[23]: workers depends on .* write "workers 4" there/, reason.to_s, text)
      assert_equal 1, reason.lines.length
      assert_raises(Tuner::Failure) { edit.write(setting("hybrid", 4, 3)) }
      assert_equal "port 3000\n#{text}", File.read(edit.path)
    end
    assert_match(/:1: like takes precedence/, edit("like :puma\nworkers 2\n").refusal(setting("hybrid", 4, 3)))
    assert_nil edit("threads ENV['N']\n").refusal(setting("single", 4)), "an engine without threads needs no number"
  end

  def test_pumas_file_has_no_engine
    puma = edit("workers 2\nthreads 1, 5\n", "puma.rb")
    assert_equal "workers 4\nthreads 3, 3\n", puma.text(setting("hybrid", 4, 3))
    assert_match(/Puma has no engine fibers/, puma.refusal(setting("fibers", 4)))
    assert_match(/puma\.rb: Puma has no threads auto\z/, puma.refusal(auto(4)))
  end

  def test_the_difference_is_one_that_patch_reads
    skip "patch is not installed" unless Cuttle::Lab::Machine.program("patch")
    text = "#{"# a\n" * 12}workers 2\n#{"# b\n" * 12}threads 1\n"
    edit = edit(text)
    diff = edit.diff(setting("hybrid", 4, 3))
    assert_equal 2, diff.scan(/^@@/).length
    IO.popen(["patch", "-s", edit.path], "w") { |io| io.write(diff) }
    assert_equal text.sub("workers 2", "workers 4").sub("threads 1", "threads 3"), File.read(edit.path)
    assert_empty Tuner::Edit.new(edit.path).diff(setting("hybrid", 4, 3))
  end
end

# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../bin/support/clone"

# bin/cuttle, which makes a clone ready and then has nothing more to do.
class TestClone < Minitest::Test
  ROOT = Serving::ROOT

  # One after the other: they change the clone.
  def self.test_order = :alpha

  def test_the_second_start_does_nothing_but_start
    cuttle
    out, err, status = cuttle
    assert_equal ["", 0], [err, status.exitstatus]
    assert_match(/\Acuttle #{Regexp.escape(Cuttle::VERSION)} /, out)
  end

  def test_a_changed_source_is_noticed
    cuttle
    stamp = File.stat(Clone::STAMP).mtime
    FileUtils.touch(Dir["#{ROOT}/ext/cuttle/*.c"].min)
    _, err, status = cuttle
    assert_equal ["cuttle: compiling the extension (rake compile)\n", 0], [err, status.exitstatus]
    assert_operator File.stat(Clone::STAMP).mtime, :>, stamp
  end

  def test_git_sees_nothing_of_it
    skip "this is no clone" unless File.exist?("#{ROOT}/.git")
    before = Open3.capture2("git", "status", "--porcelain", chdir: ROOT).first
    cuttle
    assert_equal before, Open3.capture2("git", "status", "--porcelain", chdir: ROOT).first
  end

  def test_ci_runs_bin_test_and_nothing_else_of_substance
    lines = File.readlines("#{ROOT}/.ci/run").grep_v(/\A\s*(#|\z)/).map(&:chomp)
    assert_equal ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "exec bin/test"], lines
    assert File.executable?("#{ROOT}/.ci/run")
  end

  def test_what_is_missing_is_known
    assert_predicate Packages.program("no-such-program", "none", "nothing"), :missing?
    refute_predicate Packages.program("sh", "dash", "everything"), :missing?
    assert_predicate Packages.header("no/such.h", "none", "nothing"), :missing?
  end

  private

  def cuttle
    environment = ENV.to_h.reject { |name, _| name.start_with?("BUNDLE", "RUBY", "CUTTLE", "LD_PRELOAD") }
    Open3.capture3(environment, "#{ROOT}/bin/cuttle", "--version", unsetenv_others: true)
  end
end

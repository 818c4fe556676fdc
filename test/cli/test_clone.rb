# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../bin/support/clone"

# bin/setup, and the programs that run it on a fresh clone and then have nothing more to do.
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
    deadline = 'export CUTTLE_UNTIL="${CUTTLE_UNTIL:-$(($(date +%s) + 30 * 60))}"'
    assert_equal ["set -euo pipefail", 'cd "$(dirname "$0")/.."', deadline, "export CI=true", "exec bin/test"],
                 lines
    assert File.executable?("#{ROOT}/.ci/run")
  end

  def test_what_is_missing_is_known
    assert_predicate Packages.program("no-such-program", "none", "nothing"), :missing?
    refute_predicate Packages.program("sh", "dash", "everything"), :missing?
    assert_predicate Packages.header("no/such.h", "none", "nothing"), :missing?
  end

  # Otherwise tests of apps would skip everywhere.
  def test_the_services_that_apps_need_are_installed
    services = Cuttle::Lab::Apps::Services
    missing = [services::Postgres.stub(:programs, nil) { services::Postgres.unavailable },
               services::Renderer.stub(:node, nil) { services::Renderer.unavailable }]
    packages = missing.map { |line| line[/Debian: (\S+)\)/, 1] }
    assert_equal %w[postgresql nodejs], packages
    assert_empty packages - Packages::TEST.map(&:package)
  end

  # A clone without gems: nothing is installed, and each program names what is missing.
  def test_without_installing_what_is_missing_is_named
    Dir.mktmpdir("cuttle-clone") do |directory|
      bare_clone(directory)
      variables = { "CUTTLE_SETUP" => "no", "BUNDLE_PATH" => "#{directory}/none" }
      %w[bin/cuttle bin/test bin/setup bin/console].each do |program|
        out, err, status = start("#{directory}/#{program}", variables: variables)
        assert_equal ["", 1], [out, status.exitstatus], program
        assert_equal "cuttle: missing: gems of Gemfile (bundle install)\n", err, program
      end
      refute_path_exists "#{directory}/none"
    end
  end

  def test_without_installing_no_package_is_installed
    before, ENV["CUTTLE_SETUP"] = ENV.fetch("CUTTLE_SETUP", nil), "no"
    package = Packages.program("no-such-program", "no-such-package", "nothing")
    assert_silent { assert_equal [package], Packages.install([package]) }
  ensure
    ENV["CUTTLE_SETUP"] = before
  end

  def test_the_console_has_the_server_the_load_generator_and_the_lab
    cuttle
    script = "puts [Cuttle::Server, Cuttle::Load, Cuttle::Lab].inspect + Cuttle::VERSION"
    out, err, status = start("#{ROOT}/bin/console", variables: { "HOME" => Dir.tmpdir }, stdin_data: "#{script}\n")
    skip "no irb" if err.include?("irb is missing: gem install irb")
    assert status.success?, err
    assert_includes out, "[Cuttle::Server, Cuttle::Load, Cuttle::Lab]#{Cuttle::VERSION}\n"
  end

  private

  def cuttle = start("#{ROOT}/bin/cuttle", "--version")

  # A program as a user runs it, in an environment that nothing of this process is in.
  def start(program, *arguments, variables: {}, stdin_data: "")
    environment = ENV.to_h.reject { |name, _| name.start_with?("BUNDLE", "RUBY", "CUTTLE", "LD_PRELOAD") }
    Open3.capture3(environment.merge(variables), program, *arguments, stdin_data: stdin_data, unsetenv_others: true)
  end

  # What git has of the programs and of what they load.
  def bare_clone(directory)
    %w[bin fuzz lib/cuttle/version.rb Gemfile cuttle.gemspec cuttle-lab.gemspec].each do |path|
      FileUtils.mkdir_p(File.dirname("#{directory}/#{path}"))
      FileUtils.cp_r("#{ROOT}/#{path}", "#{directory}/#{path}")
    end
  end
end

# frozen_string_literal: true

require "test_helper"
require "open3"

# `cuttle study` from its beginning to its end, with real servers and very little of them.
class TestStudyCommand < Minitest::Test
  include TemporaryDirectory

  ROOT = File.expand_path("../..", __dir__)

  def test_it_lists_what_there_is
    out, _, status = study
    assert_equal 0, status
    Cuttle::Studies.all.each { |each| assert_includes out, each.title }
  end

  def test_a_published_row_is_measured_and_reported
    out, err, status = study("s4.13", "--scale", "0.02", "--rounds", "2", "--seed", "3")
    assert_equal 0, status, err
    assert_match(/^s4\.13 .*cuttle like scrawls-simplereactor +10 at once/, out)
    assert_match(/^s4\.13 \S.* on Cuttle: a reactor equals a blocking loop/, out)
    assert_match(/0\.02 times the original's/, out)
    assert_equal out.lines.reject { |line| line.start_with?("study-results") }, shown(out.lines.last.chomp)
    assert(measured.runs.all?(&:valid?), measured.runs.map(&:reasons).inspect)
    assert_operator measured.runs.map(&:responses).min, :>=, 20 # more if 20 took less than half a second
  end

  def test_an_interrupted_one_is_gone_on_with
    Open3.popen3(*command("s4.13", "--scale", "0.02", "--rounds", "20"), chdir: @directory) do |_in, out, err, thread|
      reader = Thread.new { err.read }
      Eventually.eventually("a run") { results.any? { |path| File.read(path).include?('"type":"run"') } }
      Process.kill(:INT, thread.pid)
      assert_match(/s4\.13/, out.read)
      assert_equal 130, thread.value.exitstatus, reader.value
    end
    before = measured.runs.length
    assert measured.interrupted?
    whole = File.readlines(results.first)
    File.write(results.first, whole.first.sub('"rounds":20', '"rounds":2') + whole.drop(1).join)
    _, err, status = study("--resume", File.dirname(results.first))
    assert_equal 0, status, err
    assert_operator measured.runs.length, :>=, [before, 4].max
  end

  # A first round is always made, and the next sitting goes on.
  def test_a_study_is_measured_in_two_sittings
    sitting = ["q14-pool", "--scale", "0.01", "--rounds", "2", "--precision", "0.1%", "--budget"]
    out, err, status = study(*sitting, "0.1s")
    assert_equal 0, status, err
    assert_match(/^q14-pool +.*; about \d+ min for \d rounds? of study-results/, out)
    assert_equal [[0], true], [measured.runs.map(&:block).uniq, measured.paused?]
    out, err, status = study(*sitting, "1h")
    assert_equal 0, status, err
    assert_match(%r{^q14-pool +.*; measured: cuttle study keep study-results/q14-pool/}, out)
    assert_equal [[0, 1], false, 1], [measured.runs.map(&:block).uniq, measured.interrupted?, results.length]
  end

  def test_wrong_usage
    { %w[s9.9] => /no study "s9\.9"/, %w[s4.13 --scale 2] => /--scale/, %w[show] => /one directory/,
      %w[--frob] => /frob/, %w[s4.13 --budget soon] => /--budget/,
      %w[s4.13 --rounds 0] => /rounds/ }.each do |arguments, message|
      _, err, status = study(*arguments)
      assert_equal 2, status, arguments.inspect
      assert_match message, err.lines.first
    end
  end

  def test_a_directory_that_is_none_of_a_study
    _, err, status = study("show", @directory)
    assert_equal 1, status
    assert_match(/\Acuttle: no results in/, err)
  end

  private

  def study(*arguments)
    *texts, status = Open3.capture3(*command(*arguments), chdir: @directory)
    [*texts, status.exitstatus]
  end

  def command(*arguments)
    [environment, RbConfig.ruby, "-I#{ROOT}/lib", "-r#{ROOT}/test/lab/support/any_speed.rb", "#{ROOT}/exe/cuttle",
     "study", *arguments]
  end

  def shown(directory)
    study("show", directory).first.lines.reject { |line| line.start_with?("study-results") }
  end

  def environment
    { "RUBYOPT" => ENV["RUBYOPT"] }
  end

  def results
    Dir["#{@directory}/study-results/*/*/results.jsonl"]
  end

  def measured
    Cuttle::Lab::Results.read(results.first)
  end
end

# frozen_string_literal: true

require "test_helper"
require "open3"

# man/cuttle.1, the manual page.
class TestManual < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PATH = "#{ROOT}/#{Cuttle::Settings::Manual::PATH}".freeze
  TEXT = File.read(PATH)

  def test_it_is_up_to_date
    assert_equal Cuttle::CLI.manual, TEXT, "run rake readme"
  end

  def test_everything_is_there
    flags = Cuttle::Settings::TABLE.flat_map(&:flags)
    signals = Cuttle::Cluster::SIGNALS + %w[INFO PWR] - %w[CHLD]
    statuses = ["0", "1", "2", "130", Cuttle::Worker::STUCK.to_s]
    terms = TEXT.scan(/^\.B (.*)$/).flatten.map { |term| term.gsub("\\-", "-") }
    [*flags, *signals, *statuses, *Cuttle::CLI::COMMANDS.map(&:name), *Cuttle::Engines.names].each do |name|
      assert terms.any? { |term| term.split(/, | \(/).include?(name) }, name
    end
  end

  def test_groff_has_nothing_to_say
    out, status = Open3.capture2e("groff", "-man", "-Tutf8", "-ww", "-z", PATH)
    assert_equal ["", true], [out, status.success?]
  rescue Errno::ENOENT
    skip "groff is not installed (Debian package groff-base)"
  end

  def test_no_line_is_read_as_a_macro_by_mistake
    TEXT.each_line { |line| assert_match(/\A(?!')(?!\.(?!(?:TH|SH|SS|TP|B|PP|nh|ad|br)\b))/, line) }
    assert TEXT.ascii_only?
  end
end

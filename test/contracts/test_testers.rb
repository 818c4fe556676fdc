# frozen_string_literal: true

require "test_helper"
require_relative "tester_contract"

# Every load tester that the lab knows (see tester_contract.rb).
class TestTesters < Minitest::Test
  Testers = Cuttle::Lab::Testers

  def test_where_one_is_missing_it_says_what_to_install
    path = ENV["PATH"]
    ENV["PATH"] = "/nowhere"
    Testers.names.each do |name|
      tester = Testers.find(name)
      assert_match(/\A#{name} is not installed: apt-get install #{tester::PACKAGE}\z/, tester.unavailable)
      run = tester.new("http://127.0.0.1:1/", connections: 1, duration: 1, requests: 1)
      error = assert_raises(Cuttle::Lab::Failure) { run.run }
      assert_equal tester.unavailable, error.message
    end
  ensure
    ENV["PATH"] = path
  end

  def test_an_unknown_one
    error = assert_raises(Cuttle::UsageError) { Testers.find("jmeter") }
    assert_match(/unknown load tester "jmeter": ab, siege, wrk/, error.message)
  end

  Testers.names.each { |name| TesterContract.suite(name) }
end

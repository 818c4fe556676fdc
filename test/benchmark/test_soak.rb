# frozen_string_literal: true

require "test_helper"
require_relative "../../bin/support/soak"

# bin/soak: what its honest clients notice, what its vandals are up to, and what is judged.
class TestSoak < Minitest::Test
  include Serving

  APP = Bench.app("soak")

  def test_honest_clients_find_nothing_wrong_with_a_right_server
    serving_process(APP, "-t", "5:5", env: { "RACK_ENV" => "production" }) do |server|
      honest = Soak::Honest.new(server.port, 1)
      kinds = Soak::Honest::KINDS.uniq
      kinds.each { |kind| honest.ask(kind) }
      assert_empty honest.errors
      assert_equal kinds.size, honest.answers
      honest.leave
    end
  end

  def test_honest_clients_notice_what_is_wrong
    ok = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
    { "#{ok}1-7" => /Wrong.*"1-7"/, "#{ok}1" => /Truncated/, "" => /Truncated/,
      "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" => /answered 500/,
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n" => /Malformed/ }.each do |answer, told|
      honest = answered(answer) { |port| Soak::Honest.new(port, 1).tap { |client| client.ask(:small) } }
      assert_match told, honest.errors.join
      assert_equal [1, 0], [honest.errors.size, honest.answers]
      honest.leave
    end
    assert_empty(answered("#{ok}1-0") { |port| Soak::Honest.new(port, 1).tap { |client| client.ask(:small) } }.errors)
  end

  def test_a_server_survives_every_deed
    serving_process(APP, "-t", "5:5", env: { "RACK_ENV" => "production" }) do |server|
      vandal = Soak::Vandal.new(server.port, 1)
      Soak::Vandal::KINDS.each { |kind| vandal.deed(kind) }
      assert_equal Soak::Vandal::KINDS.size, vandal.deeds
      honest = Soak::Honest.new(server.port, 1)
      honest.ask(:small)
      assert_empty honest.errors
      honest.leave
    end
  end

  def test_no_engine_is_left_out
    assert_equal Cuttle::Engines.names.sort, Soak::ENGINES.map(&:name).sort
  end

  def test_a_slope_is_in_kilobytes_a_minute
    watch = Soak::Watch.new(nil)
    random = Random.new(1)
    100.times do |index| # 60 KB a minute, beneath garbage that is a hundred times as much
      watch.samples << sample(at: index * 10.0, rss: index * 10 + ((index % 4).zero? ? 0 : random.rand(6000)))
    end
    assert_in_delta 60, watch.slope(300), 6
    assert_nil watch.slope(900)
  end

  def test_the_pace_is_that_of_the_end_beside_the_middle
    watch = Soak::Watch.new(nil)
    answers = [0, 1, 2, 3, 103, 203, 303, 353, 403, 453]
    answers.each_with_index { |count, index| watch.samples << sample(at: index.to_f, answers: count) }
    assert_in_delta 0.5, watch.pace
  end

  def test_a_verdict
    assert_equal [[], []], judged
    assert_equal [["honest clients saw 1 errors in 11 requests", "small: wrong"], []], judged(errors: ["small: wrong"])
    assert_match(/0 errors in 0 requests/, judged(answers: 0).first.join)
    left = ->(what) { [["#{what} more than at first, after all clients left"], []] }
    assert_equal left.call("4 descriptors"), judged(last: sample(descriptors: 14))
    assert_equal left.call("9 threads"), judged(last: sample(threads: 19))
    assert_equal [["did not end in time at TERM"], []], judged(ended: nil)
    assert_equal [["the server ended"], []], judged(death: "the server ended")
    assert_equal [[], ["in its last third it answered 50% as fast as in the one before"]], judged(pace: 0.5)
    assert_equal [[], ["others had 30% of the server's core"]], judged(others: 0.3)
  end

  def test_memory_is_judged_in_long_runs_only
    faults, doubts = judged(slope: 1100.0)
    assert_equal ["RSS grew by 1100 KB/min after the warm-up (at most 1024)"], faults
    assert_empty doubts
    faults, doubts = judged(slope: 1100.0, seconds: 60)
    assert_empty faults
    assert_match(/grew by 1100 .* too short/, doubts.first)
    assert_equal [[], []], judged(slope: 1000.0)
  end

  private

  def sample(at: 0.0, rss: 0, descriptors: 10, threads: 10, answers: 0)
    Soak::Watch::Sample.new(at, rss, descriptors, threads, answers)
  end

  # [faults, doubts] of a good run but for +bad+.
  def judged(**bad)
    good = { seconds: 600, first: sample, last: sample, slope: 0.0, pace: 1.0, answers: 10, errors: [], ended: 1.0,
             others: 0.0, death: nil }
    verdict = Soak::Verdict.new(Soak::Verdict::Seen.new(**good, **bad))
    [verdict.faults, verdict.doubts]
  end

  # A server that gives its one client that answer, then closes.
  def answered(answer)
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      client = listener.accept
      client.readpartial(4096)
      client.write(answer)
      client.close
    end
    yield listener.addr[1]
  ensure
    thread.join
    listener.close
  end
end

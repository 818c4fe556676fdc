# frozen_string_literal: true

require "test_helper"
require "cuttle/plugin/statsd"

# What the plugin sends of which measures, to a client in this process. test/real has the real gem.
class TestStatsd < Minitest::Test
  # StatsD's client, as far as the plugin needs it. Keeps the sum of each counter.
  class Client
    attr_reader :sums

    def initialize
      @sums = Hash.new(0)
    end

    def increment(name, count, tags: {})
      @sums[[name, *tags.values]] += count
    end

    def gauge(*, **); end
  end

  def setup
    @client = Client.new
    @plugin = Cuttle::Plugin::Statsd.new
    { client: @client, tags: true }.each { |name, value| @plugin.instance_variable_set(:"@#{name}", value) }
  end

  # TTOU removes the worker with index 1, and TTIN adds it again: its sums go on.
  def test_a_worker_that_comes_back_is_not_counted_twice
    report({ 0 => 5, 1 => 5 }, { 0 => 10, 1 => 20 }, { 0 => 11 }, { 0 => 12, 1 => 20 }, { 0 => 12, 1 => 27 })
    assert_equal [7, 22], requests
    assert_equal 4, @client.sums[["cuttle.worker_restarts", "1"]]
  end

  def test_a_new_worker_is_counted_from_its_first_request
    report({ 0 => 5 }, { 0 => 5, 1 => 3 }, { 0 => 5, 1 => 4 })
    assert_equal [0, 4], requests
  end

  private

  def requests = %w[0 1].map { |index| @client.sums[["cuttle.worker_requests", index]] }

  # Sends reports of servers whose workers have counted that many requests: {index => requests}.
  def report(*states)
    states.map { |state| measures(state) }.each_cons(2) { |before, now| @plugin.send(:send_all, now, before) }
  end

  # Each worker was started again after every five requests, but not after the first five.
  def measures(state)
    processes = state.map do |index, requests|
      { index: index, stats: {}, requests: requests, restarts: (requests - 5) / 5 }
    end
    { versions: { cuttle: "1", ruby: { engine: "ruby", version: "3" } }, totals: {}, processes: processes,
      owners: {}, memory: {}, ledger: {} }
  end
end

# frozen_string_literal: true

require "test_helper"

# What ab 2.3, siege 4.0.7 and wrk 4.1.0 printed once, and what is read from it.
class TestTesterReports < Minitest::Test
  Testers = Cuttle::Lab::Testers

  AB = <<~TEXT
    Document Length:        Variable

    Concurrency Level:      3
    Time taken for tests:   0.119 seconds
    Complete requests:      60
    Failed requests:        0
    Non-2xx responses:      12
    Keep-Alive requests:    60
    Total transferred:      68100 bytes
    HTML transferred:       60000 bytes
    Requests per second:    503.62 [#/sec] (mean)
    Time per request:       5.957 [ms] (mean)
    Time per request:       1.986 [ms] (mean, across all concurrent requests)
    Transfer rate:          558.21 [Kbytes/sec] received

    Connection Times (ms)
                  min  mean[+/-sd] median   max
    Connect:        0    0   0.1      0       0
    Processing:     5    6   0.6      5      12
    Waiting:        5    5   0.6      5      12
    Total:          5    6   0.6      5      12
    WARNING: The median and mean for the total time are not within a normal deviation
            These results are probably not that reliable.

    Percentage of the requests served within a certain time (ms)
      50%      5
      66%      5
      75%      5
      80%      6
      90%      6
      95%      7
      98%      7
      99%      9
     100%     12 (longest request)
  TEXT

  AB_RESET = <<~TEXT
    Time taken for tests:   0.023 seconds
    Complete requests:      60
    Failed requests:        80
       (Connect: 1, Receive: 40, Length: 0, Exceptions: 39)
    Total transferred:      22600 bytes
    Requests per second:    2622.95 [#/sec] (mean)
    Total:          0    1   0.7      0       3
      99%      3
  TEXT

  # All connections were closed without a word.
  AB_CLOSED = <<~TEXT
    Time taken for tests:   0.020 seconds
    Complete requests:      60
    Failed requests:        0
    Total transferred:      0 bytes
    Requests per second:    3021.60 [#/sec] (mean)
    Total:          0    0   0.6      0       3
      50%      0
  TEXT

  SIEGE = <<~TEXT
    {	"transactions":			          60,
    	"availability":			       95.24,
    	"elapsed_time":			        0.17,
    	"data_transferred":		        0.06,
    	"response_time":		        0.01,
    	"transaction_rate":		      352.94,
    	"throughput":			        0.34,
    	"concurrency":			        2.59,
    	"successful_transactions":	          58,
    	"failed_transactions":		           3,
    	"longest_transaction":		        0.02,
    	"shortest_transaction":		        0.00
    }
  TEXT

  # Its own report, without what our script adds, is short.
  WRK = <<~TEXT
    Running 1s test @ http://127.0.0.1:45809/
      1 threads and 3 connections
    wrk {"elapsed":1001886,"responses":530,"octets":595190,"min":41,"mean":5630.215,"max":13790,\
    "percentiles":{"50":545,"75":5530,"90":5800,"95":6010,"99":1070000,"99.9":1070100},\
    "connect":1,"read":2,"write":3,"timeout":4,"status":5}
  TEXT

  WRK_NOTHING = <<~TEXT
    wrk {"elapsed":1010000,"responses":0,"octets":0,"min":0,"mean":0.000000,"max":0,"percentiles":{"50":0,"99":0},\
    "connect":0,"read":3168,"write":0,"timeout":0,"status":0}
  TEXT

  def test_ab
    said = read("ab", AB)
    assert_equal [503.62, 60, 68_100, 0.119], said.values_at(:rate, :responses, :octets, :elapsed)
    assert_equal({ connect: 0, reset: 0, status_unexpected: 12 }, said[:errors])
    assert_equal [0.005, 0.006, 0.012], said.values_at(:min, :mean, :max)
    assert_equal [[50, 66, 75, 80, 90, 95, 98, 99], 0.007, 0.009],
                 [said[:percentiles].keys, *said[:percentiles].values_at(95, 99)]
  end

  def test_ab_counts_a_reset_connection_twice
    said = read("ab", AB_RESET)
    assert_equal [20, { connect: 1, reset: 40, status_unexpected: 0 }], said.values_at(:responses, :errors)
  end

  def test_ab_is_content_with_no_answer
    said = read("ab", AB_CLOSED)
    assert_equal [0, nil, nil], said.values_at(:responses, :mean, :percentiles)
  end

  def test_siege
    said = read("siege", SIEGE)
    assert_equal [352.94, 60, 62_915, 0.17], said.values_at(:rate, :responses, :octets, :elapsed)
    assert_equal({ status_4xx: 2, failed: 3 }, said[:errors])
    assert_equal [0.0, 0.01, 0.02, nil], said.values_at(:min, :mean, :max, :percentiles)
  end

  def test_wrk
    said = read("wrk", WRK)
    assert_equal [529.0, 530, 595_190, 1.001886], [said[:rate].round(2), *said.values_at(:responses, :octets, :elapsed)]
    assert_equal({ connect: 1, reset: 5, timeout: 4, status_unexpected: 5 }, said[:errors])
    assert_equal [0.000041, 0.00563, 0.01379], said.values_at(:min, :mean, :max).map { |each| each.round(6) }
    times = said[:percentiles]
    assert_equal [[50, 75, 90, 95, 99, 99.9], 0.000545, 1.07], [times.keys, *times.values_at(50.0, 99.0)]
  end

  def test_wrk_without_an_answer
    said = read("wrk", WRK_NOTHING)
    assert_equal [0, 3168, nil, nil], [said[:responses], said[:errors][:reset], said[:mean], said[:percentiles]]
  end

  def test_wrk_here
    wrk = Testers.find("wrk")
    skip wrk.unavailable if wrk.unavailable

    Cuttle::Load::TestServers.open(:failing) do |failing|
      run = wrk.new("http://127.0.0.1:#{failing.port}/", connections: 1, duration: 1, keep_alive: true).run
      assert_operator run.responses, :>, 0
      assert_equal run.responses, run.errors[:status_unexpected]
      assert_operator run.percentile(99), :>=, run.percentile(50)
      assert_operator run.client_cpu, :>, 0
    end
  end

  def test_what_is_no_report
    Testers.names.each { |name| ["", "usage: #{name}", "{ torn"].each { |text| assert_nil read(name, text), name } }
  end

  # Under the names that Load::Result has.
  def test_a_result
    result = Testers::Result.new(read("wrk", WRK), client_cpu: 0.5)
    assert_equal 530 + 1 + 5 + 4, result.arrivals # of the other errors there was an answer
    assert_in_delta 545_000, result.percentile(50), 1e-3
    assert_in_delta 1.07e9, result.percentile(99.0), 1e-3
    assert_nil result.percentile(99.99)
    assert_equal [nil, [], [], false], [result.distribution, result.windows, result.marks, result.interrupted?]
  end

  private

  def read(name, text)
    Testers.find(name).read(text)
  end
end

# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# The values that the tuner's parts exchange.
class TestProfile < Minitest::Test
  Tuner = Cuttle::Tuner

  def profile(**facts)
    entries = [Tuner::Profile::Entry.new(name: "GET /", cpu: [0.001, 0.003], wait: 0.02, weight: 3),
               Tuner::Profile::Entry.new(name: "POST /", cpu: 0.006, wait: 0, weight: 1)]
    Tuner::Profile.new(entries: entries, **facts)
  end

  def test_means_follow_the_weights
    assert_in_delta 0.003, profile.mean_cpu
    assert_in_delta 0.015, profile.mean_wait
  end

  def test_an_entry_waits_once_unless_more_is_known
    assert_equal [1.0, 0.0], profile.entries.map(&:waits)
  end

  def test_what_an_entry_does_not_say_has_a_meaning
    entry = Tuner::Profile::Entry.new(name: "GET /", cpu: 0.001, wait: 0)
    assert_equal [0.0, 0.0, nil], [entry.unlocked, entry.correlation, entry.samples]
  end

  def test_a_written_profile_is_read_as_it_was
    Dir.mktmpdir do |directory|
      path = profile(boot: 1.5, memory: { "base" => 1, "worker" => 2, "thread" => 3 },
                     notes: ["no database"]).write("#{directory}/a.json")
      read = Tuner::Profile.read(path)
      assert_equal [1.5, ["no database"]], [read.boot, read.notes]
      assert_equal profile.entries, read.entries
      assert_equal 2.5, read.with(boot: 2.5).boot
    end
  end

  def test_what_is_no_profile_is_named_in_one_line
    Dir.mktmpdir do |directory|
      path = "#{directory}/a.json"
      ["[]", "{}", "{", '{"entries":[],"schema":"cuttle-profile/1"}', '{"entries":[{"name":"a"}]}', '"a"', "5",
       '{"entries":"a"}', '{"entries":[1]}', '{"entries":[{"name":"a","cpu":[],"wait":0}]}',
       '{"entries":[{"name":"a","cpu":-1,"wait":0}]}', '{"entries":[{"name":"a","cpu":1,"wait":["b"]}]}',
       '{"entries":[{"name":"a","cpu":1,"wait":0,"weight":0}]}'].each do |text|
        File.write(path, text)
        error = assert_raises(Tuner::Failure, text) { Tuner::Profile.read(path) }
        assert_equal 1, error.message.lines.length
        assert_includes error.message, path
      end
      assert_raises(Tuner::Failure) { Tuner::Profile.read("#{directory}/none") }
    end
  end

  def test_settings_have_only_the_numbers_that_their_engine_has
    assert_equal "hybrid -w 2 -t 5", Tuner::Setting.new(engine: "hybrid", workers: 2, threads: 5).name
    assert_equal Tuner::Setting.new(engine: "single", workers: 2), Tuner::Setting.new(engine: "single", workers: 2,
                                                                                      threads: 5)
    assert_equal 1, Tuner::Setting.new(engine: "reactor").slots
    [{ engine: "none" }, { workers: -1 }, { workers: 1025 }, { threads: 0 }, { threads: 1.5 },
     { threads: 10_001 }].each do |wrong|
      assert_raises(Cuttle::UsageError) { Tuner::Setting.new(**wrong) }
    end
  end

  def test_limits_name_what_a_forecast_breaks
    forecast = Tuner::Forecast.new(demand: Tuner::Demand.open(10), p99: 0.3, capacity: 100, memory: 2000)
    assert_empty Tuner::Limits.new(rate: 10, p99: 0.4, memory: 2000, connections: 1).broken(forecast)
    assert_equal %i[memory p99], Tuner::Limits.new(rate: 10, p99: 0.2, memory: 1999).broken(forecast)
    assert_equal %i[rate], Tuner::Limits.new(rate: 101, p99: 1).broken(forecast)
    assert_raises(Cuttle::UsageError) { Tuner::Limits.new(memory: 0) }
  end
end

# frozen_string_literal: true

require_relative "real"
require_relative "support/forum_storage"

# A pool of database connections that is smaller than the threads, in a real app with Active Record.
class PoolsTest < Minitest::Test
  WAYS = [Real::Way.new("hybrid", nil), Real::Way.new("hybrid", 2)].freeze

  def test_a_pool_below_the_threads_is_named_once
    WAYS.each do |way|
      log = log_of(way, "2")
      assert_equal 1, log.scan("pool of Active Record has 2 connections, so -t auto starts at most 2 threads").length,
                   log
    end
  end

  def test_a_pool_that_is_large_enough
    refute_includes log_of(WAYS.first, "3"), "Active Record"
  end

  # As Sequel's databases show themselves.
  def test_a_pool_of_sequel
    with_sequel(4, 5) do
      assert_equal ["a database pool of Sequel has 4 connections for 5 threads: some will wait for one. Give the " \
                    "pool 5, or start with -t 4"], Cuttle::DatabasePools.short(5)
    end
  end

  def test_pools_limit_threads_that_come_as_they_help
    with_sequel(5, 4) do
      assert_equal 4, Cuttle::DatabasePools.least
      assert_empty limiting(4)
      assert_equal ["a database pool of Sequel has 4 connections, so -t auto starts at most 4 threads; " \
                    "--max-threads N sets another limit"], limiting(64)
    end
  end

  def test_without_a_pool_few_threads_come
    assert_nil Cuttle::DatabasePools.least
    assert_equal ["no database pool is known, so -t auto starts at most 5 threads; --max-threads N sets another limit"],
                 limiting(64)
    assert_empty limiting(5), "for want of memory"
  end

  # As Sequel has for a database in memory.
  def test_a_pool_of_one_connection_limits_no_threads_that_come_as_they_help
    alone = "a database pool of Sequel has 1 connection for up to %d threads: some may wait for it. --max-threads N " \
            "sets a limit"
    with_sequel(1, 1) do
      assert_nil Cuttle::DatabasePools.least
      assert_match(/\Ano database pool is known, /, limiting(64).first)
      assert_equal [format(alone, 5)], limiting(64).drop(1)
      assert_equal [format(alone, 4)], limiting(4)
    end
    with_sequel(1, 4) do
      assert_equal 4, Cuttle::DatabasePools.least
      assert_equal format(alone, 4), limiting(64).last
      assert_match(/ has 4 connections, so -t auto starts at most 4 threads;/, limiting(64).first)
      assert_match(/ has 1 connection for 3 threads:/, Cuttle::DatabasePools.short(3).join)
    end
  end

  # Somebody asked for that one.
  def test_a_pool_of_active_record_with_one_connection_limits
    with_active_record(1) do
      assert_equal 1, Cuttle::DatabasePools.least
      line = "the database pool of Active Record has 1 connection, so -t auto starts at most 1 thread; " \
             "--max-threads N sets another limit"
      assert_equal [line], limiting(64)
      with_sequel(1) { assert_equal [line], limiting(64), "a single thread waits for no other" }
    end
  end

  # An app with several databases waits for the connection of each.
  def test_the_smallest_pool_of_several_databases_limits
    with_active_record(5, 5, 3) do
      assert_equal 3, Cuttle::DatabasePools.least
      assert_equal [5, 3], Cuttle::DatabasePools.short(8).map { |line| line[/has (\d)/, 1].to_i }
    end
  end

  def test_a_pool_as_rails_8_1_names_it
    with_active_record(4, nil, as: :max_connections) { assert_equal 4, Cuttle::DatabasePools.least }
    with_active_record(nil, as: :max_connections) { assert_nil Cuttle::DatabasePools.least }
  end

  def test_a_pool_without_connections_is_none
    with_active_record("auto".to_i) do
      assert_nil Cuttle::DatabasePools.least
      assert_match(/\Ano database pool is known, /, limiting(64).join)
      assert_empty Cuttle::DatabasePools.short(5)
    end
    with_sequel(0, nil) { assert_nil Cuttle::DatabasePools.least }
  end

  private

  # What limits threads that come as they help. room: threads that there is memory for.
  def limiting(room)
    Cuttle::DatabasePools.limiting(Cuttle::Engines::Auto.limit(Cuttle::DatabasePools.least, room), room)
  end

  def with_sequel(*sizes)
    pool = Struct.new(:max_size)
    Object.const_set(:Sequel, Module.new)
    Sequel.const_set(:DATABASES, sizes.map { |size| Struct.new(:pool).new(pool.new(size)) })
    yield
  ensure
    Object.send(:remove_const, :Sequel)
  end

  # As its configuration shows itself: the app's own database and others. as: Rails' name for the number of connections.
  def with_active_record(*sizes, as: :pool)
    Object.const_set(:ActiveRecord, Module.new)
    databases = sizes.map { |size| Struct.new(:env_name, as).new("production", size) }
    base = ActiveRecord.const_set(:Base, Class.new)
    base.define_singleton_method(:connection_db_config) { databases.first }
    all = Object.new
    all.define_singleton_method(:configs_for) { |env_name:| databases.select { |each| each.env_name == env_name } }
    base.define_singleton_method(:configurations) { all }
    yield
  ensure
    Object.send(:remove_const, :ActiveRecord)
  end

  # What a server of the forum says until it has answered.
  def log_of(way, pool)
    skip Real::FORUM.missing if Real::FORUM.missing
    storage = Real::ForumStorage.new
    server = Real::Server.new(Real::FORUM, way, "FORUM_STORAGE" => storage.path, "FORUM_POOL" => pool)
    server.wait_until_ready
    Net::HTTP.get(URI("#{server.url}/"))
    server.log
  ensure
    server&.kill
    storage&.remove
  end
end

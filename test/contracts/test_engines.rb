# frozen_string_literal: true

require "test_helper"
require_relative "engine_contract"

# Every engine there is, alone and clustered, over each poller back end (see engine_contract.rb).
# CUTTLE_ENGINE=hybrid,fibers tests those only.
class TestEngines < Minitest::Test
  def test_every_engine_says_what_it_is
    Cuttle::Engines.names.each do |name|
      traits = Cuttle::Engines.traits(name)
      assert_instance_of Cuttle::Engines::Traits, traits
      assert_predicate traits, :frozen?
      refute traits.pooled? && traits.fibers?, name
      assert traits.pooled? || !traits.thread_per_connection?, name
      Cuttle::Cores.names.map { |core| Cuttle::Cores.fetch(core) }.each do |core|
        source = Cuttle::Engines.fetch(name).source([], core: core, env: {})
        assert_equal traits.evented?, source.is_a?(core::Poller), name unless traits.ractors?
      end
    end
  end

  def test_how_many_requests_are_in_the_app_at_once
    {
      {} => 1, { evented: true } => 1, { pooled: true } => 5, { evented: true, fibers: true } => 9
    }.each do |traits, number|
      assert_equal number, Cuttle::Engines::Traits.new(**traits).capacity(threads: 1..5, max_fibers: 9)
    end
    unbounded = Cuttle::Engines::Traits.new(pooled: true, thread_per_connection: true)
    assert_equal Float::INFINITY, unbounded.capacity(threads: 0..0, max_fibers: 9)
  end

  # Code that lists engines by name misses the next engine. (Presets and the lab's control are data.)
  def test_nobody_asks_an_engine_for_its_name
    names = /(?:==|!=|when|include\?\() ?"(?:#{Cuttle::Engines.names.join("|")})"/
    files = Dir["#{Serving::ROOT}/{lib,test/{contracts,support}}/**/*.rb"]
    assert_empty(files.select { |path| File.read(path).match?(names) })
  end

  (ENV["CUTTLE_ENGINE"]&.split(",") || Cuttle::Engines.names).each do |engine|
    EngineContract.suites(engine) unless Cuttle::Engines.unavailable(engine)
  end
end

# frozen_string_literal: true

require "test_helper"
require_relative "engine_contract"

# Every engine there is, alone and clustered, over each poller back end (see engine_contract.rb).
# CUTTLE_ENGINE=hybrid,fibers tests those only.
class TestEngines < Minitest::Test
  def test_every_engine_has_its_traits
    assert_equal Cuttle::Engines.names.sort, EngineContract::TRAITS.keys.sort
  end

  (ENV["CUTTLE_ENGINE"]&.split(",") || Cuttle::Engines.names).each { |engine| EngineContract.suites(engine) }
end

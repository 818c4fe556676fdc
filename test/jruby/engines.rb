# frozen_string_literal: true

require "test_helper"
require_relative "../contracts/engine_contract"
require_relative "exempt"

# The engine contract, with servers that JRuby runs (CUTTLE_SERVER_RUBY; see rake test:jruby).
(ENV["CUTTLE_ENGINE"]&.split(",") || Cuttle::Engines.names).each do |engine|
  next if Exempt::ENGINES.key?(engine)

  contracts = Exempt::BRIEF.fetch(engine) { EngineContract.promises(engine) }
  contracts = contracts.reject { |contract| Exempt::CONTRACTS.key?(contract.name[/\w+\z/]) }
  EngineContract::Case.for(engine, 0, nil, contracts, core: "pure")
end

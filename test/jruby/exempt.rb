# frozen_string_literal: true

# What is not tested on JRuby, and why.
module Exempt
  # Contracts of engines.
  CONTRACTS = {
    EngineContract::Forks => "the JVM can't fork",
    EngineContract::TakesTurns => "threads run in parallel, so that none waits for the GVL",
    EngineContract::StandsBy => "threads run in parallel, so that none leaves its turn to another"
  }.freeze
end

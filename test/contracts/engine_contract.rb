# frozen_string_literal: true

require_relative "engine/case"
require_relative "engine/serves"
require_relative "engine/shares"
require_relative "engine/stops"
require_relative "engine/survives"
require_relative "engine/outlives"
require_relative "engine/forks"
require_relative "engine/descriptors"
require_relative "engine/fibers"

# The one suite for every engine, from outside: as a process that clients talk to. test_engines.rb says which engines
# run it, and how; a new engine needs an entry in TRAITS and passes everything here.
module EngineContract
  EVERY = [Serves, Shares, Stops, Survives, Outlives, Forks, Descriptors].freeze

  # What single engines promise beyond that.
  FURTHER = {
    "threads" => [TakesTurns], "hybrid" => [TakesTurns, StandsBy, GoesOn], "fibers" => [GoesOn, Fibers]
  }.freeze

  # Poller back ends to run an engine over; only one where it has no poller.
  def self.backends(engine)
    TRAITS.fetch(engine).evented? ? ["poll", *("epoll" if RUBY_PLATFORM.include?("linux"))] : [nil]
  end

  # Every way to run +engine+, as suites.
  def self.suites(engine)
    contracts = EVERY + FURTHER.fetch(engine, [])
    [0, 2].product(backends(engine)).map do |workers, backend|
      Case.for(engine, workers, backend, workers.zero? ? contracts : contracts - FURTHER.values.flatten)
    end
  end
end

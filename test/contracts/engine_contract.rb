# frozen_string_literal: true

require_relative "engine/case"
require_relative "engine/serves"
require_relative "engine/conforms"
require_relative "engine/shares"
require_relative "engine/stops"
require_relative "engine/survives"
require_relative "engine/outlives"
require_relative "engine/forks"
require_relative "engine/hijacks"
require_relative "engine/descriptors"
require_relative "engine/limits"
require_relative "engine/proxies"
require_relative "engine/sheds"
require_relative "engine/stuck"
require_relative "engine/fibers"

# The suite for every engine, from outside: as a process that clients use. An engine's TRAITS determine which parts
# apply to it. A new engine gets all of them without a change here.
module EngineContract
  EVERY = [Serves, Shares, Stops, Survives, Outlives, Forks, Hijacks, Descriptors, Places, ShedsLate].freeze

  # Behaviour that one process shows as well as two, and the promises of each kind of engine.
  FURTHER = {
    Conforms => ->(_) { true },
    Quotas => ->(_) { true },
    Proxies => ->(_) { true },
    TakesTurns => ->(traits) { traits.pooled? },
    StandsBy => ->(traits) { traits.pooled? && traits.evented? },
    GoesOn => ->(traits) { traits.evented? && !traits.inline? },
    Sheds => ->(traits) { traits.evented? },
    Stuck => ->(traits) { traits.evented? },
    Fibers => ->(traits) { traits.fibers? }
  }.freeze

  # Behaviour that depends on the transport.
  SECURED = [Serves, Shares, Stops, Survives, Outlives, Forks, Hijacks, Descriptors, Conforms].freeze

  # How clients speak it (see TlsSocket).
  TLS = -> { { ca: TlsFiles.authority.cert_path, patience: 0.2 } }

  # Ruby forbids fork in ractors. Ractors don't promise the following: their threads' clocks don't show which thread
  # computes.
  FORBIDDEN = [Forks, StandsBy].freeze

  # Poller back ends of a core to run an engine with; one run for an engine without a poller.
  def self.backends(engine, core = "native")
    Cuttle::Engines.traits(engine).evented? ? Cuttle::Cores.fetch(core)::Poller.backends : [nil]
  end

  # A back end does not affect other workers, except by leaving the listeners to them, which pooled engines do most.
  # With sanitizers, clustered suites would only run the same C code as the single ones again.
  def self.covered?(engine, workers, backend)
    return false unless workers.positive? && backend && backend != Cuttle::Poller.backends.first

    ENV["CUTTLE_SANITIZE"] || !Cuttle::Engines.traits(engine).pooled?
  end

  # Every way to run +engine+, as suites: with the native core, alone and clustered, and with the other cores only
  # alone, because their threads don't stand by. Each with each back end of the core.
  def self.suites(engine)
    return ractors(engine) if Cuttle::Engines.traits(engine).ractors?

    ways = [0, 2].product(backends(engine)).reject { |each| covered?(engine, *each) }
    ways.map { |workers, backend| Case.for(engine, workers, backend, workers.zero? ? promises(engine) : EVERY) } +
      secured(engine) + adaptive(engine) +
      other_cores.flat_map do |core|
        backends(engine, core).map do |backend|
          Case.for(engine, 0, backend, promises(engine) - [StandsBy], core: core)
        end
      end
  end

  # The same with -t auto: alone, and with two workers for the parts that these share. TakesTurns needs a number of
  # threads.
  def self.adaptive(engine)
    return [] unless Cuttle::Engines.traits(engine).adaptive?

    backend = backends(engine).first
    [Case.for(engine, 0, backend, promises(engine) - [TakesTurns], auto: true),
     Case.for(engine, 2, backend, [Serves, Shares, Stops, Survives], auto: true)]
  end

  # The same with clients that use TLS: alone, and with two workers for the parts that these share.
  def self.secured(engine)
    return [] unless Cuttle::Cores.fetch("native").tls

    backend = backends(engine).first
    [Case.for(engine, 0, backend, SECURED, tls: TLS.call), Case.for(engine, 2, backend, [Serves, Stops], tls: TLS.call)]
  end

  # Everything that one process of +engine+ has to do.
  def self.promises(engine)
    EVERY + FURTHER.select { |_, promised| promised.call(Cuttle::Engines.traits(engine)) }.keys
  end

  # One process of one ractor, with each back end, and one of two ractors.
  def self.ractors(engine)
    alone = promises(engine) - FORBIDDEN
    backends(engine).map { |backend| Case.for(engine, 0, backend, alone, ractors: 1) } <<
      Case.for(engine, 0, backends(engine).first, EVERY - FORBIDDEN, ractors: 2) <<
      Case.for(engine, 0, backends(engine).first, SECURED - FORBIDDEN, ractors: 1, tls: TLS.call)
  end

  # Cores without C have nothing for sanitizers.
  def self.other_cores
    ENV["CUTTLE_SANITIZE"] ? [] : Cuttle::Cores.names - ["native"]
  end
end

# frozen_string_literal: true

module Real
  # One way to serve an app: an engine, and how many workers it is forked into (nil: none).
  Way = Struct.new(:engine, :workers) do
    def flags
      ["--engine", engine, *(["-w", workers.to_s] if workers)]
    end

    # Whether a second request is answered while the app still works on the first.
    def concurrent?
      !workers.nil? || traits.nil? || !traits.inline?
    end

    # That many connections, or as many as can be kept alive at once: a blocking engine closes one when others wait.
    def connections(wanted)
      return wanted if traits.nil? || traits.evented?

      settings = Cuttle::Settings.build(variables: {}, engine: engine)
      [wanted, traits.capacity(**settings.for_engine)].min
    end

    # nil for a server that is not ours.
    def traits
      Cuttle::Engines.traits(engine) if Cuttle::Engines.names.include?(engine)
    end

    def to_s
      workers ? "#{engine} -w #{workers}" : engine
    end

    # As part of a class's name: HybridW2.
    def camel
      "#{engine.capitalize}#{"W#{workers}" if workers}"
    end
  end

  ENGINES = Cuttle::Engines.names.reject { |name| Cuttle::Engines.traits(name).ractors? }.freeze

  # A server that is not ours has one way, its own.
  ALONE = ENV["REAL_SERVER"] ? [Way.new("other")].freeze : ENGINES.map { |engine| Way.new(engine) }.freeze
  WAYS = ENV["REAL_SERVER"] ? ALONE : (ALONE + ENGINES.map { |engine| Way.new(engine, 2) }).freeze
end

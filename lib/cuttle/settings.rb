# frozen_string_literal: true

module Cuttle
  # What the user asked for, as one frozen value. Layers, from the weakest to the strongest:
  #
  #   :default < :environment < :like < :flag
  #
  # +:environment+ are environment variables, +:like+ is the preset that --like names, +:flag+ what was said on the
  # command line or to Cuttle::Server.new. A value knows which layer it came from, so that a message can name the
  # culprit. Whoever adds a layer adds a pair to Settings.layers; nothing else knows how many there are.
  class Settings
    autoload :Checks, "cuttle/settings/checks"
    autoload :Defaults, "cuttle/settings/defaults"
    autoload :Environment, "cuttle/settings/environment"
    autoload :LIKES, "cuttle/settings/likes"
    autoload :Values, "cuttle/settings/values"

    # path::      rackup file, or directory of static files; nil where the app is given as an object
    # binds::     URIs to listen on (tcp://host:port, unix:///path); +port+ is what -p or PORT said
    # workers::   processes to fork; 0 serves from this one
    # threads::   Range of threads that run the app in a process; 0..0 is a thread per connection
    # docroot::   directory whose files are served before the app is asked
    # like::      the server whose model and habits were asked for
    # max_fibers:: requests under way at once in a process of the fibers engine
    # *_timeout:: seconds: a whole request to arrive, the next one on a connection to begin, a reader to take
    #             anything, and (shutdown) what is under way to be answered once the server was told to stop
    NAMES = %i[path engine parser workers threads max_fibers environment port binds docroot like keep_alive
               log_requests quiet debug request_timeout idle_timeout write_timeout shutdown_timeout].freeze

    NAMES.each { |name| define_method(name) { @values[name] } }

    class << self
      # The settings that +flags+ (a nil says nothing) and the environment's +variables+ make. Raises UsageError.
      def build(variables: ENV, **flags)
        unknown = flags.keys - NAMES
        raise UsageError, "unknown option #{unknown.first}" unless unknown.empty?

        new(layers(variables, flags)).tap { |settings| Checks.call(settings) }
      end

      private

      # Strongest first. Each layer is its origin and a Hash of the values that it says something about.
      def layers(variables, flags)
        flags = Values.coerce(flags.compact) { |name| Values.flag(name) }
        [[:flag, flags], [:like, preset(flags[:like])], [:environment, Environment.read(variables)]]
      end

      def preset(like)
        return {} unless like

        said = LIKES.fetch(like) { raise UsageError, "unknown server #{like.inspect}: #{LIKES.keys.join(", ")}" }
        Values.coerce(said) { "--like #{like}:" }
      end
    end

    def initialize(layers)
      @values = {}
      @origins = {}
      NAMES.each { |name| resolve(name, layers) }
      [@values, @origins, self].each(&:freeze)
    end

    # The layer that +name+ came from: :default, :environment, :like or :flag.
    def origin(name)
      @origins.fetch(name)
    end

    def to_h
      @values.dup
    end

    private

    # NAMES is in order of dependence: a default may look at the values before it.
    def resolve(name, layers)
      origin, values = layers.find { |layer, said| said.key?(name) && heard?(name, layer) }
      @origins[name] = origin || :default
      @values[name] = values ? values[name] : Defaults.fetch(name, self)
      @values[name] |= Defaults.fetch(name, self) if name == :binds && @origins.values_at(:binds, :port).all?(:flag)
    end

    # RAILS_MAX_THREADS and presets speak of pools: an engine without one doesn't hear them. A flag is heard, and refused.
    def heard?(name, layer)
      name != :threads || layer == :flag || !Defaults::ONE_THREAD.include?(engine)
    end
  end
end

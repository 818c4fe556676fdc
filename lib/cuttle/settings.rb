# frozen_string_literal: true

module Cuttle
  # The options of the user, as one frozen value. Settings::TABLE lists the settings. The layers, from the weakest to
  # the strongest:
  #
  #   :default < :environment < :like < :flag
  #
  # +:environment+ are environment variables, +:like+ is the preset of --like, +:flag+ are options of the command line
  # or of Cuttle::Server.new. Each value knows its layer, so that a message can name the cause. To add a layer, add a
  # pair to Settings.layers; no other code knows how many there are.
  class Settings
    autoload :Checks, "cuttle/settings/checks"
    autoload :Help, "cuttle/settings/help"
    autoload :Kinds, "cuttle/settings/kinds"
    autoload :LIKES, "cuttle/settings/likes"
    autoload :Readme, "cuttle/settings/readme"
    autoload :Row, "cuttle/settings/row"
    autoload :TABLE, "cuttle/settings/table"

    NAMES = TABLE.map(&:name).freeze
    ROWS = TABLE.to_h { |row| [row.name, row] }.freeze
    private_constant :ROWS

    NAMES.each { |name| define_method(name) { @values.fetch(name) { resolve(Settings.row(name)) } } }

    class << self
      # The settings made from +flags+ (nil: not given) and the environment's +variables+. Raises UsageError.
      def build(variables: ENV, **flags)
        unknown = flags.keys - NAMES
        raise UsageError, "unknown option #{unknown.first}" unless unknown.empty?

        new(layers(variables, flags)).tap { |settings| Checks.call(settings) }
      end

      # The Row with that name.
      def row(name)
        ROWS.fetch(name)
      end

      private

      # Strongest first. Each layer is its origin and a Hash of its values.
      def layers(variables, flags)
        flags = flags.compact.to_h { |name, value| [name, row(name).coerce(value)] }
        [[:flag, flags], [:like, preset(flags[:like])], [:environment, environment(variables)]]
      end

      def preset(like)
        return {} unless like

        LIKES.fetch(like).to_h { |name, value| [name, row(name).coerce(value, "--like #{like}:")] }
      end

      def environment(variables)
        TABLE.filter_map do |row|
          variable, said = row.heard(variables)
          [row.name, row.coerce(said, variable)] if variable
        end.to_h
      end
    end

    def initialize(layers)
      @layers = layers
      @values = {}
      @origins = {}
      NAMES.each { |name| public_send(name) }
      remove_instance_variable(:@layers)
      [@values, @origins, self].each(&:freeze)
    end

    # The layer that +name+ came from: :default, :environment, :like or :flag.
    def origin(name)
      public_send(name)
      @origins.fetch(name)
    end

    # The traits of the selected engine.
    def traits
      Engines.traits(engine)
    end

    # The keywords for a source (see Row).
    def for_source
      to_h.select { |name, _| Settings.row(name).source }
    end

    # The keywords for an engine.
    def for_engine
      to_h.select { |name, _| Settings.row(name).engine }
    end

    def to_h
      @values.dup
    end

    private

    # A default may read other settings, which are then resolved first.
    def resolve(row)
      fixed = row.fixed&.call(self)
      origin, said = @layers.find { |layer, values| says?(row, values) && (fixed.nil? || layer == :flag) }
      value = said ? settle(row, said.fetch(row.name) { said[row.follows] }) : fixed || row.otherwise(self)
      @origins[row.name] = origin || :default
      @values[row.name] = value
    end

    # A value may be nil: a limit that was turned off.
    def says?(row, values)
      values.key?(row.name) || values.key?(row.follows)
    end

    def settle(row, value)
      row.joined ? row.joined.call(value, self) : value
    end
  end
end

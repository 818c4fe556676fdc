# frozen_string_literal: true

module Cuttle
  # The options of the user, as one frozen value. Settings::TABLE lists the settings. The layers, from the weakest to
  # the strongest:
  #
  #   :default < :environment < :like of the file < :file < :like < :flag
  #
  # +:environment+ are environment variables, +:file+ is the configuration file, +:like+ is the preset of --like or of
  # the word like in the file, +:flag+ are options of the command line or of Cuttle::Server.new. A preset gives way to
  # the values that stand beside it, among the flags or in the file. Each value knows its layer, and its place there, so
  # that a message can name the cause. To add a layer, add it to Settings.layers; no other code knows how many there
  # are.
  class Settings
    autoload :Checks, "cuttle/settings/checks"
    autoload :Help, "cuttle/settings/help"
    autoload :Kinds, "cuttle/settings/kinds"
    autoload :LIKES, "cuttle/settings/likes"
    autoload :Manual, "cuttle/settings/manual"
    autoload :Readme, "cuttle/settings/readme"
    autoload :Row, "cuttle/settings/row"
    autoload :TABLE, "cuttle/settings/table"

    # One layer: its name, its values, and where each of them stands ("--threads", "config/cuttle.rb:3").
    Layer = Struct.new(:origin, :values, :places) do
      # Whether it has a value for +row+. A value may be nil: a limit that was turned off.
      def says?(row)
        values.key?(row.name) || values.key?(row.follows)
      end

      # [value, place] for +row+.
      def said(row)
        name = values.key?(row.name) ? row.name : row.follows
        [values[name], places[name]]
      end
    end

    # The value of control_token for none, also where one would be made.
    NO_TOKEN = "none"

    NAMES = TABLE.map(&:name).freeze
    ROWS = TABLE.to_h { |row| [row.name, row] }.freeze
    private_constant :ROWS

    NAMES.each { |name| define_method(name) { @values.fetch(name) { resolve(Settings.row(name)) } } }

    class << self
      # The settings made from +flags+ (nil: not given), the +configuration+ of a file (or nil) and the environment's
      # +variables+. Raises UsageError.
      def build(variables: ENV, configuration: nil, **flags)
        unknown = flags.keys - NAMES
        raise UsageError, "unknown option #{unknown.first}" unless unknown.empty?

        new(layers(variables, configuration, flags)).tap { |settings| Checks.call(settings) }
      end

      # The Row with that name.
      def row(name)
        ROWS.fetch(name)
      end

      private

      # Strongest first. A preset of the command line replaces that of the file.
      def layers(variables, configuration, flags)
        given = flags.compact.to_h { |name, value| [name, row(name).coerce(value)] }
        flag = Layer.new(:flag, given, given.to_h { |name, _| [name, row(name).flag] })
        file = Layer.new(:file, configuration&.values || {}, configuration&.places || {})
        presets = given[:like] ? [preset(flag), file] : [file, preset(file)]
        [flag, *presets, environment(variables)].compact
      end

      # The preset that +layer+ names; nil if it names none.
      def preset(layer)
        like = layer.values[:like] or return
        place = layer.origin == :flag ? "--like #{like}" : "#{layer.places[:like]}: like #{like}"
        values = LIKES.fetch(like).to_h { |name, value| [name, row(name).coerce(value, "#{place}:")] }
        Layer.new(:like, values, values.transform_values { place })
      end

      def environment(variables)
        heard = TABLE.filter_map { |row| [row.name, row.heard(variables)] }.to_h.compact
        values = heard.to_h { |name, (variable, said)| [name, row(name).coerce(said, variable, variable: true)] }
        Layer.new(:environment, values, heard.transform_values(&:first))
      end
    end

    def initialize(layers)
      @layers = layers
      @values = {}
      @origins = {}
      @places = {}
      @autos = []
      NAMES.each { |name| public_send(name) }
      remove_instance_variable(:@layers)
      [@values, @origins, @places, @autos, self].each(&:freeze)
    end

    # The layer that +name+ came from: :default, :environment, :file, :like or :flag.
    def origin(name)
      public_send(name)
      @origins.fetch(name)
    end

    # Where in that layer: a flag, "--like puma", "config/cuttle.rb:3", "config/cuttle.rb:3: like puma", a variable; nil
    # for a default.
    def place(name)
      @places[name]
    end

    # Whether the setting is "auto". Its value is then what the settings made of it.
    def auto?(name)
      @autos.include?(name)
    end

    # Where relative paths begin: the directory to serve in, without links, as the server has it once it is there.
    # Without that setting it is the working directory.
    def base
      directory ? File.realpath(directory) : "."
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
      layer = layer_of(row)
      layer = nil unless fixed.nil? || layer&.origin == :flag
      @origins[row.name] = layer&.origin || :default
      return @values[row.name] = fixed || row.otherwise(self) unless layer

      value, @places[row.name] = layer.said(row)
      @autos << row.name if value == :auto
      @values[row.name] = row.joined ? row.joined.call(value, self, layer.values) : value
    end

    # The strongest layer that has a value for +row+, unless a stronger one has a value that replaces it.
    def layer_of(row)
      layer = @layers.find { |candidate| candidate.says?(row) || candidate.values.key?(row.yields) }
      layer if layer&.says?(row)
    end
  end
end

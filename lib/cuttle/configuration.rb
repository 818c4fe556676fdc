# frozen_string_literal: true

module Cuttle
  # A configuration file: Ruby code that sets the values of settings, and the app to serve. Words lists its words.
  # Reading a file starts nothing and changes nothing outside, except what the file's own code does.
  class Configuration
    autoload :Words, "cuttle/configuration/words"

    # The value of --config for no file.
    NONE = "-"

    class << self
      # The configuration that goes with +flags+: of the file that they or CUTTLE_CONFIG name, of
      # config/cuttle/ENVIRONMENT.rb or config/cuttle.rb, or nil if there is none. The environment that counts is that
      # of +flags+ and of +variables+. Raises Error.
      def of(flags, variables = ENV)
        path = flags[:config] || Settings.row(:config).heard(variables)&.last || find(flags, variables)
        read(path) unless path.nil? || path == NONE
      end

      # The configuration in the file +path+. Raises Error.
      def read(path)
        new.tap { |configuration| configuration.read(path) }
      end

      private

      # An environment set in the file itself would come too late.
      def find(flags, variables)
        environment = Settings.build(variables: variables, environment: flags[:environment]).environment
        ["config/cuttle/#{environment}.rb", "config/cuttle.rb"].find { |path| File.exist?(path) }
      end
    end

    # +values+: name of a setting => its value, in its final form; +places+: name => "config/cuttle.rb:3".
    # +app+: the Rack app that the file made, or nil. +hooks+: the Hooks, +plugins+: the Plugins that it gave.
    attr_reader :values, :places, :hooks, :plugins
    attr_accessor :app

    def initialize
      @values = {}
      @places = {}
      @hooks = Hooks.new
      @plugins = []
      @files = []
      @open = []
    end

    # The files that were read, as absolute paths.
    def files
      @files.dup
    end

    # Evaluates a file. Raises Error.
    def read(path)
      file = File.expand_path(path)
      raise Error, "no configuration file #{path}" unless File.file?(file)
      raise Error, "#{path} loads itself" if @open.include?(file)

      @values[:config] ||= path
      @files |= [@open.push(file).last]
      RubyFile.evaluating(path) { RubyFile.within(Words.new(self), text(path), path) }
      @open.pop
    end

    # Sets the setting of +row+, as a file says it at +place+. Raises UsageError.
    def set(row, value, place, word = row.words.first)
      coerced = row.coerce(value, "#{place}: #{word}")
      @values[row.name] = row.repeated ? [*@values[row.name], *coerced] : coerced
      @places[row.name] = place
    end

    private

    def text(path)
      File.read(path)
    rescue SystemCallError => error
      raise Error, "can't read #{path}: #{error.class.new.message}"
    end
  end
end

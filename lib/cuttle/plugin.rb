# frozen_string_literal: true

module Cuttle
  # A plugin is a class in a file of its own, cuttle/plugin/NAME.rb, in this gem or in any other that the program can
  # load. `plugin "my_metrics"` in a configuration file makes a Cuttle::Plugin::MyMetrics.
  #
  #   class Cuttle::Plugin::MyMetrics < Cuttle::Plugin
  #     def config(words)
  #       words.before_worker_boot { |index| … }   # any word of a configuration file
  #     end
  #
  #     def start(process)
  #       in_background { loop { … process.command("restart") … } }
  #     end
  #   end
  class Plugin
    FORM = /\A[a-z][a-z0-9_]*\z/

    # The options that this plugin takes, with their defaults: `plugin "my_metrics", every: 5`.
    OPTIONS = {}.freeze

    # A new plugin of that name. Raises UsageError if there is no such file, or an unknown option.
    def self.named(name, **options)
      file = "cuttle/plugin/#{name}"
      raise UsageError, "plugin #{name.inspect}: give the name of a file #{file}.rb" unless name.to_s.match?(FORM)

      require file
      const_get(name.to_s.split("_").map(&:capitalize).join, false).new(**options)
    rescue LoadError => error
      raise if error.path != file

      raise UsageError, "plugin #{name}: no file #{file}.rb; the gem that has it is missing"
    end

    # Requires a file of the gem called +gem+, which is the user's. Raises UsageError if it is missing.
    def self.require_gem(gem, file = gem)
      require file
    rescue LoadError => error
      raise if error.path != file

      raise UsageError, "#{name}: the gem #{gem} is missing: add it to your Gemfile, or install it"
    end

    def initialize(**options)
      unknown = options.keys - self.class::OPTIONS.keys
      raise UsageError, "#{self.class.name}: unknown option #{unknown.first}" if unknown.any?

      @options = { **self.class::OPTIONS, **options }
    end

    # Called once, when the configuration file names the plugin. +words+ takes the words of such a file.
    def config(words); end

    # Called once in the supervisor, or in the only process, when the server is about to run, so also after a hot
    # restart. +process+ takes command(name), as the control listener does: "stop", "restart", "phased-restart", …
    # It also has stats, measures (Telemetry::Metrics), and directory, the name of the directory to serve in.
    def start(process); end

    private

    # Runs the block in a thread of its own, which ends with the process. An error in it is reported.
    def in_background(&block)
      Thread.new do
        block.call
      rescue StandardError => error
        Cuttle.report("#{self.class.name}: #{Error.line(error)}")
      end
    end
  end
end

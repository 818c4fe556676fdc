# frozen_string_literal: true

require "tempfile"

module Cuttle
  class CLI
    class Tune
      # The setting that an app has now, in production. It comes from its config/cuttle.rb, else from Puma's file, else
      # from the environment and the defaults. Our own apps have no such files.
      class Present
        OURS = "config/cuttle.rb"
        PUMAS = %w[config/puma/production.rb config/puma.rb].freeze # Puma reads the first that exists
        ENVIRONMENT = "production"
        PUMAS_THREADS = 5 # if its file says none
        # A thread for each connection, as a number for the model.
        MANY = 256

        # setting: a Tuner::Setting. place: where it comes from. configuration: the file that says it, or
        # config/cuttle.rb where there is none; nil for our own apps.
        attr_reader :setting, :place, :configuration

        # app: as for Lab::Apps. Raises Error.
        def initialize(app)
          @directory = directory(app)
          @setting, @place, file = @directory ? Dir.chdir(@directory) { in_production } : defaults
          @configuration = @directory && File.expand_path(file || OURS, @directory)
        end

        # Members of Tuner::Options, for an answer for so many cores. Workers auto are one for each of them: as many as
        # this machine has CPUs would be too many for fewer cores, and say nothing of production's.
        def to_h(cores)
          members = { present: setting, place: place, configuration: configuration }
          return members unless @auto

          workers = cores == 1 && setting.traits.ractors? ? 0 : cores
          { **members, present: Tuner::Setting.new(**setting.to_h, workers: workers),
                       place: "#{place}, with #{@auto} auto for #{Cuttle::Load::Units.plural(cores, "core")}" }
        end

        # The configuration file at +path+ (nil: none), if --write may change it. Raises UsageError.
        def self.writable(path)
          raise UsageError, "--write: an app of the lab's own has no configuration file" unless path
          return path unless Tuner::Edit.pumas?(path)

          name = PUMAS.find { |each| path.end_with?("/#{each}") } || path
          raise UsageError, "--write: #{name} is Puma's; make ours first: cuttle import #{name} -o #{OURS}"
        end

        private

        def directory(app)
          return if Cuttle::Lab::Apps::NAMES.key?(app)

          File.directory?(app) ? File.expand_path(app) : File.dirname(File.expand_path(app))
        end

        # The files may ask for the environment themselves, as Rails' config/puma.rb does.
        def in_production
          variables = Settings.row(:environment).variables
          before = variables.to_h { |name| [name, ENV.fetch(name, nil)] }
          variables.each { |name| ENV[name] = ENVIRONMENT }
          ours || pumas || defaults
        ensure
          ENV.update(before)
        end

        def ours
          flags = { environment: ENVIRONMENT }
          configuration = Configuration.of(flags) or return
          file = configuration.values[:config]
          [of(Settings.build(configuration: configuration, **flags)), file, file]
        end

        # Reads only workers and threads of Puma's file, converted to our words. Workers may be auto, or come from a
        # variable, as in our file.
        def pumas
          path = PUMAS.find { |each| File.file?(each) } or return
          Tempfile.create(["puma", ".rb"]) do |file|
            file.write(Cuttle::Import.new(path, server: "puma").text)
            file.flush
            workers, threads = Configuration.read(file.path).values.values_at(:workers, :threads)
            [of(Settings.build(environment: ENVIRONMENT, workers: workers, threads: threads || PUMAS_THREADS)),
             path, path]
          end
        end

        def defaults
          settings = Settings.build(environment: ENVIRONMENT)
          places = %i[engine workers threads].filter_map { |name| settings.place(name) }
          [of(settings), places.empty? ? "the defaults" : places.join(", ")]
        end

        def of(settings)
          @auto = automatic(settings)
          Tuner::Setting.new(engine: settings.engine, workers: workers(settings), threads: threads(settings),
                             max_threads: (settings.max_threads unless settings.origin(:max_threads) == :default))
        end

        # The setting that is one for each CPU, or nil.
        def automatic(settings)
          return ("ractors" if settings.origin(:ractors) == :default) if settings.traits.ractors?

          "workers" if settings.auto?(:workers)
        end

        # A tuner's Setting has 0 for one ractor.
        def workers(settings)
          return settings.workers unless settings.traits.ractors?

          settings.ractors == 1 ? 0 : settings.ractors
        end

        def threads(settings)
          return Tuner::Setting::AUTO if settings.threads.is_a?(Engines::Auto)

          settings.threads.max.zero? ? MANY : settings.threads.max
        end
      end
    end
  end
end

# frozen_string_literal: true

module Bench
  # Measures all settings of an app and compares them with the result of `cuttle tune`. Both are kept below
  # RESULTS/tune/NAME. Existing measurements are not repeated, and interrupted ones are continued.
  class Tuning
    Tuner = Cuttle::Tuner

    MOST = 24 # settings
    ROUNDS = 3
    SECONDS = 3
    WARM_UP = 0.5
    TIME = "seconds.json" # in the tune's folder

    # name: of the directory below +results+. app, work: as in Tuner::Options. budget: seconds of the tune.
    def initialize(name, app:, work: {}, engines: nil, workers: [0, 2, 3, 4], threads: [1, 2, 3, 5, 8], budget: 120,
                   seed: 1, rounds: ROUNDS, results: RESULTS, out: $stdout)
      @directory = File.join(results, "tune", name)
      @given = { app: app, work: work, engines: engines, budget: budget, seed: seed }
      @workers = workers
      @threads = threads
      @rounds = rounds
      @out = out
    end

    # Measures what is missing, and returns Findings. Raises Error.
    def run
      FileUtils.mkdir_p(@directory)
      advice, folder = tuned
      Findings.new(advice, Tuner::Profile.read(folder.at(Tuner::Profile::FILE)), grid(advice), seconds(folder))
    end

    private

    # [Advice, Folder]
    def tuned
      folder = Tuner::Folder.latest("#{@directory}/tune", Tuner::Folder::STATE) ||
               Tuner::Folder.create(Tuner::Options.new(**@given, directory: "#{@directory}/tune"))
      return [Tuner::Advice.read(folder.at(Tuner::Advice::FILE)), folder] if finished?(folder)

      session = Tuner::Session.new(folder, out: @out)
      advice = timing(folder) { session.run }
      raise Interrupt if session.interrupted?

      [advice, folder]
    end

    # An interrupted verification has an answer too.
    def finished?(folder)
      folder.there?(Tuner::Advice::FILE) && !folder.verification&.interrupted?
    end

    # Adds the time of the block to that of earlier parts of an interrupted tune.
    def timing(folder)
      began = Cuttle.now
      yield
    ensure
      folder.write(TIME, { "tune" => seconds(folder).to_f + Cuttle.now - began })
    end

    # Seconds of the tune, or nil.
    def seconds(folder)
      JSON.parse(File.read(folder.at(TIME)))["tune"] if folder.there?(TIME)
    end

    # The Lab::Results of every setting.
    def grid(advice)
      last = Dir["#{@directory}/grid/*/#{Lab::Results::Store::FILE}"].max
      results = Lab::Results.read(File.dirname(last)) if last
      return results if results && !results.interrupted?

      options = Tuner::Options.new(**@given).to_lab(rounds: @rounds, duration: SECONDS, warmup: WARM_UP,
                                                    directory: "#{@directory}/grid", resume: results&.directory)
      path = Lab.run(options, out: @out, plan: (plan(advice) unless results))
      Lab::Results.read(path).tap { |found| raise Interrupt if found.interrupted? }
    end

    def plan(advice)
      slots = Tuner::Grid.new(Tuner::Profile.read(profile_of(advice)), engines: engines, cores: advice.here).slots
      all = Tuner::Verification.new(settings(advice), rate: advice.demand.rate, slots: slots)
      all.plan(@given[:seed], all.sized(@rounds, SECONDS))
    end

    def profile_of(advice)
      "#{@directory}/tune/#{advice.id}/#{Tuner::Profile::FILE}"
    end

    def engines
      @given[:engines] || Tuner::Grid.engines
    end

    # The tune's choice, the same numbers for each engine, and the settings that the tune called as good. hybrid comes
    # first, because most apps run under it.
    def settings(advice)
      all = engines.flat_map do |engine|
        threads = Cuttle::Engines.traits(engine).pooled? ? @threads : [nil]
        @workers.product(threads).map do |count, number|
          Tuner::Setting.new(engine: engine, workers: count, threads: number)
        end
      end
      hybrid, others = all.partition { |each| each.engine == "hybrid" }
      [advice.choice.setting, *hybrid, *advice.alternatives.map(&:setting), *others].uniq.first(MOST)
    end
  end
end

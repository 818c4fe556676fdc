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

    # name: of the directory. app, work: as in Tuner::Options. budget: seconds of the tune.
    def initialize(name, app:, work: {}, engines: nil, workers: [0, 2, 3, 4], threads: [1, 2, 3, 5, 8], budget: 120,
                   seed: 1, rounds: ROUNDS, out: $stdout)
      @directory = File.join(RESULTS, "tune", name)
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
      return [Tuner::Advice.read(folder.at(Tuner::Advice::FILE)), folder] if folder.there?(Tuner::Advice::FILE)

      began = Cuttle.now
      session = Tuner::Session.new(folder, out: @out)
      advice = session.run
      raise Interrupt if session.interrupted?

      folder.write("seconds.json", { "tune" => Cuttle.now - began })
      [advice, folder]
    end

    def seconds(folder)
      JSON.parse(File.read(folder.at("seconds.json")))["tune"] if folder.there?("seconds.json")
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

    # The same numbers for each engine, and the tune's choice, so that it is measured together with the others.
    def settings(advice)
      all = engines.flat_map do |engine|
        threads = Cuttle::Engines.traits(engine).pooled? ? @threads : [nil]
        @workers.product(threads).map do |count, number|
          Tuner::Setting.new(engine: engine, workers: count, threads: number)
        end
      end
      [advice.choice.setting, *all.uniq.sort_by { |each| precedence(each) }].uniq.first(MOST)
    end

    # hybrid first, because most apps run under it.
    def precedence(setting)
      setting.engine == "hybrid" ? 0 : 1
    end

    # The grid compared with the tune.
    class Findings
      AIMS = { choice: 0.97, cost: 0.1, rate: 0.05, p95: 0.15, held: 0.9 }.freeze

      def initialize(advice, profile, results, seconds)
        @advice = advice
        @profile = profile
        @results = results
        @verified = Tuner::Verified.new(results)
        @seconds = seconds
      end

      # The report: lines.
      def to_s
        [*cells.map { |cell| line(cell) }, "", best, cost, *errors].compact.join("\n")
      end

      private

      # [setting, figure, predicted Estimate, measured Estimate] of every cell, predicted from the profile without
      # corrections.
      def cells
        @cells ||= begin
          plain = @profile.with(corrections: [])
          model, margin = Tuner::Model.new(plain), Tuner::Margin.new(plain)
          @verified.measurements.flat_map do |setting, found|
            closed = model.forecast(setting, Tuner::Demand.closed(@verified.connections), cores: @advice.here)
            open = model.forecast(setting, Tuner::Demand.open(@verified.rate), cores: @advice.here)
            rate = margin.around(:capacity, Tuner::Forecast.new(**closed.to_h, capacity: closed.rate))
            [[setting, :rate, rate, found.capacity], [setting, :p95, margin.around(:p95, open), found.p95]]
          end.select { |_, _, predicted, measured| predicted&.value&.finite? && measured }
        end
      end

      def line((setting, figure, predicted, measured))
        format("%-20s %-5s predicted %9.4f, measured %9.4f, ratio %.3f", setting.name, figure, predicted.value,
               measured.value, measured.value / predicted.value)
      end

      def best
        all = @verified.measurements.transform_values { |each| each.capacity.value }
        setting, most = all.max_by(&:last)
        share = all.fetch(@advice.choice.setting) / most
        format("choice: %s serves %.1f/s, %.1f%% of the best of %d settings, %s (aim: at least %d%%)",
               @advice.choice.setting.name, all[@advice.choice.setting], share * 100, all.length, setting.name,
               AIMS[:choice] * 100)
      end

      def cost
        grid = @results.runs.length * (SECONDS + WARM_UP) + (@results.runs.length / 2 * (@profile.boot || 1))
        @seconds && format("cost: the tune took %.0f s, %.0f%% of the grid's %.0f s (aim: at most %d%%)", @seconds,
                           @seconds * 100 / grid, grid, AIMS[:cost] * 100)
      end

      def errors
        cells.group_by { |_, figure| figure }.map do |figure, group|
          misses = group.map { |_, _, predicted, measured| Math.log(measured.value / predicted.value).abs }.sort
          middle, most = [misses[misses.length / 2], misses.last].map { |miss| (Math.exp(miss) - 1) * 100 }
          held = group.count { |_, _, predicted, measured| measured.value.between?(predicted.low, predicted.high) }
          format("%s: %d cells, off by %.1f%% in the median (aim: %d%%), %.1f%% at most; %d%% within the interval " \
                 "(aim: %d%%)", figure, group.length, middle, AIMS[figure] * 100, most, held * 100 / group.length,
                 AIMS[:held] * 100)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    # Makes the Advice from the results of the search and the verification. It measures nothing. It adds only forecasts
    # that answer the user's likely next questions.
    class Advisor
      ALTERNATIVES = 5
      QUICK = 10 # forecasts in a search under changed circumstances
      WAITS = 0.1 # share of the CPU time; in an app that waits less, the database's speed hardly matters
      SPEED = %i[capacity p95].freeze # what more threads may improve

      # options: Tuner::Options. profile: includes the corrections of +verified+. verified: Verified, or nil. here: the
      # number of CPU cores that the servers had in the verification. model: makes a model of a profile.
      def initialize(options, profile:, verified:, cores:, here:, model: Model.method(:new))
        @options = options
        @profile = profile
        @verified = verified
        @cores = cores
        @here = here
        @model = model
        @limits = options.limits
        @ranking = Ranking.new(limits: @limits, present: options.present)
      end

      # The setting that the advice is for, if it was not measured although it can be here; otherwise nil.
      def unmeasured
        choose
        chosen if verified_here? && !@verified.measurements.key?(chosen)
      end

      # about: the remaining members of Advice (id, taken_at, app, warnings).
      def advice(**about)
        choose
        Advice.new(command: @options.command, place: @options.place, limits: @limits, cores: @cores, here: @here,
                   **answer, what_ifs: what_ifs, map: map, checks: checks, changes: changes, **about)
      end

      private

      def choose
        return if @found

        @search = search(@profile, @cores, @limits, demand: measured_demand)
        compare_with_measured if measurements.any?
        @found = @search.run
        @best = predicted(@best) unless keeps?(@best)
      end

      # Chooses from the measured settings, and bases all predictions on the choice. Measured settings are ranked
      # separately. Otherwise a prediction that no measured setting reaches would leave none of them among the equals,
      # from which the cheapest is chosen.
      def compare_with_measured
        @best = threads.best(*measured)
        @base = chosen
        @search = search(@profile, @cores, @limits, demand: measured_demand)
        @best, = outcomes([@best.setting])
      end

      def search(profile, cores, limits, **further)
        Search.new(@model.call(profile, base: @base), profile, limits: limits, engines: @options.engines, cores: cores,
                                                  present: @options.present, **further)
      end

      def answer
        kind = verdict.kind(@best)
        { kind: kind, choice: choice = kind == :keep ? present : @best, present: present, failure: failure,
          gains: verdict.gains(choice), threads: rivals, capped: capped, max_fibers: max_fibers(choice.setting),
          detectable: (verdict.detectable(ordered) if kind == :keep),
          alternatives: kind == :none ? [] : alternatives(choice),
          edit: (edit(choice.setting) unless %i[keep none].include?(kind)) }
      end

      # The answer if no measured setting keeps the limits: the best prediction that does, or else the nearest of all. A
      # user of -t auto is advised to set a number of threads only on the ground of a measurement, but a higher limit on
      # the ground of a prediction. measured: the best measured Outcome, or nil.
      def predicted(measured)
        first = ordered.first
        return measured if measured && @limits.memory && first.memory.nil? # it may need as much

        auto = @found.grid.auto_beside(first.setting) if present&.setting&.auto?
        outcomes([auto].compact - failed).find { |each| keeps?(each) } || first
      end

      def keeps?(outcome)
        outcome&.excess(@limits)&.empty?
      end

      # Measured Outcomes, the best first.
      def measured
        @ranking.order(outcomes(measurements.keys))
      end

      def threads
        Threads.new(@verified, ranking: @ranking, limits: @limits)
      end

      # -t auto compared with a number of threads, as measured with the workers of the choice; or nil.
      def rivals
        @rivals ||= threads.beside(chosen, measured)
      end

      # See Advice.
      def capped
        setting = @found.own.auto_beside(chosen)
        return if setting.nil? || failed.include?(setting)

        own, choice = outcomes([setting, chosen])
        own if short?(own, choice)
      end

      # Whether +auto+ has all the threads that it may start, and is worse than +other+, which has more.
      def short?(auto, other)
        limit = Footprint.new(@profile).threads(auto.setting)
        auto.stand_in.threads >= limit && other.setting.most_threads.to_i > limit &&
          @ranking.behind(auto, other).intersect?(SPEED)
      end

      # Auto has a higher limit in it only if its own is why it is worse than the choice.
      def grid
        @grid ||= capped ? @found.grid : @found.own
      end

      def present
        @options.present && outcomes([@options.present]).first
      end

      # All Outcomes, the best first.
      def ordered
        @ordered ||= @ranking.order(outcomes((measurements.keys | @found.outcomes.map(&:setting)) - failed))
      end

      # The settings' predicted Outcomes; measured figures replace predicted ones.
      def outcomes(settings)
        settings.map do |setting|
          outcome, found = @search.outcome(setting), measurements[setting]
          found ? outcome.confirmed(found) : outcome
        end
      end

      # The demand at which response times were measured. The model, which was corrected since, may choose another one.
      def measured_demand
        Demand.open(@verified.rate) if verified_here? && @verified.measurements.any?
      end

      # Measurements hold only for the cores of this machine. For other numbers of cores, they count only as corrections
      # of the model.
      def verified_here?
        @cores == @here && !@verified.nil?
      end

      def measurements
        return {} unless verified_here?

        @measurements ||= @verified.measurements.to_h do |setting, found|
          [setting, full?(setting, found) ? found : Measurement.new(**found.to_h, capacity: nil)]
        end
      end

      # Whether the closed loop had enough connections to measure the setting's capacity, by the model. With fewer, the
      # measured rate is that of the connections, so the predicted capacity stays, unless even more was measured.
      def full?(setting, found)
        connections = @verified.connections(setting)
        return true if connections >= setting.processes * setting.slots
        return true if found.capacity.value >= @search.outcome(setting).capacity.value

        forecast = uncorrected.forecast(setting, Demand.closed(connections), cores: @here)
        [forecast.rate, found.capacity.value].max >= forecast.capacity * Model::Corrections::FULL
      end

      def verdict
        Verdict.new(present, limits: @limits, failure: failure, verified: @verified) { |each| predicted_short?(each) }
      end

      # Whether the user has -t auto, and the model finds its limit too low beside that setting.
      def predicted_short?(setting)
        return false unless present.setting.auto? && present.setting.beside?(setting)

        short?(*[present.setting, setting].map { |each| @search.outcome(each) })
      end

      # Why the present setting can't serve the app, or nil. Its own runs count for more than that of its engine in the
      # profile.
      def failure
        setting = @options.present
        return if setting.nil? || @verified&.measurements&.key?(setting)

        @verified&.failures&.[](setting) || @profile.unfit&.[](setting.engine)
      end

      # Settings that can't serve the app.
      def failed
        [*@verified&.failures&.keys, (@options.present if failure)].compact
      end

      # The change to the configuration file, or the reason why it can't be made.
      def edit(setting)
        path = @options.configuration or return
        edit = Edit.new(path, cores: @cores, max_fibers: max_fibers(setting))
        refusal = edit.refusal(setting)
        told = refusal ? {} : { "diff" => edit.diff(setting), "remark" => edit.remark(setting) }
        { "path" => path, "refusal" => refusal, **told }
      end

      # See Advice.
      def max_fibers(setting)
        Footprint.new(@profile, limit: @limits.connections).max_fibers(setting)
      end

      # Settings that are not known to be worse than the choice.
      def alternatives(choice)
        keeping = ordered.select { |outcome| keeps?(outcome) }
        least = keeping.filter_map(&:memory).min
        equals = @ranking.equals([choice, *keeping].uniq).reject { |outcome| outcome.setting == choice.setting }
        equals.sort_by { |outcome| @ranking.cost(outcome, least) }.first(ALTERNATIVES)
      end

      # The differences to the neighbours of the choice. The model predicts both sides. It treats -t auto as a number of
      # threads, so the measurements replace the predictions if both settings were measured.
      def what_ifs
        from = @search.outcome(chosen)
        near = (grid.around(chosen) | [from.stand_in, capped&.setting].compact) - failed
        near = near.select { |setting| setting.auto? == chosen.auto? || !setting.beside?(chosen) } if rivals
        pairs = near.map { |setting| [from, @search.outcome(setting)] }
        pairs << [rivals.auto, rivals.number].sort_by { |each| each.setting == chosen ? 0 : 1 } if rivals
        pairs.map { |pair| Advice::WhatIf.new(from: pair.first, to: pair.last) }
      end

      def chosen
        verdict.kind(@best) == :keep ? present.setting : @best.setting
      end

      # The map of the chosen engine if it has threads, otherwise of the first engine that has threads.
      def map
        engine = [chosen.engine, "hybrid", *@options.engines].find do |name|
          grid.engines.include?(name) && Engines.traits(name).pooled?
        end or return

        workers, choices = grid.workers(engine), grid.choices(engine)
        rows = workers.map do |processes|
          choices.map { |choice| @found.capacities[grid.at(engine, processes, choice)] }
        end
        Advice::Map.new(engine: engine, workers: workers, threads: choices, rows: rows)
      end

      # The predictions of the profile alone, compared with the measurements that followed.
      def checks
        return [] unless @verified

        margin = Margin.new(before)
        @verified.measurements.flat_map do |setting, found|
          [[Demand.closed(@verified.connections(setting)), { capacity: found.capacity }],
           [Demand.open(@verified.rate), found.to_h.slice(:p50, :p95, :p99)]].flat_map do |demand, figures|
            forecast = uncorrected.forecast(setting, demand, cores: @here)
            figures.compact.filter_map { |name, measured| check(name, measured, forecast, margin) }
          end
        end
      end

      def before
        @before ||= @profile.with(corrections: [])
      end

      def uncorrected
        @uncorrected ||= @model.call(before)
      end

      # The capacity is compared with the rate in the same closed loop.
      def check(name, measured, forecast, margin)
        predicted = margin.around(name, name == :capacity ? closed(forecast) : forecast)
        return unless predicted&.value&.finite? && measured.value.positive?

        Advice::Check.new(setting: forecast.setting, demand: forecast.demand, figure: name, predicted: predicted,
                          measured: measured)
      end

      def closed(forecast)
        Forecast.new(**forecast.to_h, capacity: forecast.rate)
      end

      # The best settings with twice the cores, with a database that takes twice as long, and at twice the rate.
      def changes
        [(change(:cores, @cores * 2, cores: @cores * 2) if @cores * 2 <= Limits::CORES),
         (change(:wait, 2, wait: 2) if @profile.mean_wait > WAITS * @profile.mean_cpu),
         (change(:rate, @limits.rate * 2, rate: @limits.rate * 2) if @limits.rate)].compact
      end

      def change(what, value, cores: @cores, wait: 1, rate: @limits.rate)
        limits = Limits.new(**@limits.to_h, rate: rate, cores: (cores if @limits.cores))
        search = search(Circumstances.profile(@profile, wait: wait), cores, limits, forecasts: QUICK)
        found = search.run
        best = found.outcomes.find { |outcome| !failed.include?(outcome.setting) }
        auto = found.grid.auto_beside(best.setting) if chosen.auto?
        auto = nil if failed.include?(auto)
        best = search.outcome(auto) if auto
        Advice::Change.new(what: what, value: value, outcome: best, excess: best.excess(limits))
      end
    end
  end
end

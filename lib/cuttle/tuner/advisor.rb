# frozen_string_literal: true

module Cuttle
  module Tuner
    # Makes the Advice of what was searched and verified. It measures nothing; all it adds is forecasts of what the user
    # may ask next.
    class Advisor
      CHEAPER = 0.9 # of the present memory; less is worth a change by itself
      ALTERNATIVES = 5
      QUICK = 10 # forecasts of a search under other circumstances
      WAITS = 0.1 # of the CPU time; an app that waits less does not care how slow its database is

      # options: Tuner::Options. profile: with the corrections of +verified+. verified: Verified, or nil. here: cores of
      # the servers in the verification. model: makes a model of a profile.
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

      # about: further members of Advice (id, taken_at, app, warnings).
      def advice(**about)
        @search = search(@profile, @cores, @limits, demand: measured_demand)
        compare_with(chosen) if measurements.any?
        @found = @search.run
        Advice.new(command: @options.command, place: @options.place, limits: @limits, cores: @cores, here: @here,
                   **answer, what_ifs: what_ifs, map: map, checks: checks, changes: changes, **about)
      end

      private

      # Everything is predicted as beside that setting, which was measured.
      def compare_with(setting)
        @base = setting
        @search = search(@profile, @cores, @limits, demand: measured_demand)
      end

      def search(profile, cores, limits, **further)
        Search.new(@model.call(profile, base: @base), profile, limits: limits, engines: @options.engines, cores: cores,
                                                  present: @options.present, **further)
      end

      def answer
        kind = kind_of(best)
        { kind: kind, choice: choice = kind == :keep ? present : best, present: present, gains: gains(choice),
          threads: rivals, detectable: (detectable if kind == :keep),
          alternatives: alternatives(choice), edit: (edit(choice.setting) unless %i[keep none].include?(kind)) }
      end

      # What counts: measured settings where there are any, otherwise all. They are ranked by themselves, because a
      # prediction that none of them reaches would leave no equals to take the cheapest of.
      def best
        @best ||= measurements.any? ? threads.best(*measured) : predicted
      end

      # Only a measurement takes a user of threads auto to a number of them.
      def predicted
        first = ordered.first
        auto = @found.grid.auto_beside(first.setting) if present&.setting&.auto?
        outcomes([auto].compact).find { |each| each.excess(@limits).empty? } || first
      end

      # Measured Outcomes, the best first.
      def measured
        @ranking.order(outcomes(measurements.keys))
      end

      def threads
        Threads.new(@verified, ranking: @ranking, limits: @limits)
      end

      # Threads auto beside a number, as they were measured with the workers of the choice; or nil.
      def rivals
        @rivals ||= threads.beside(chosen, measured)
      end

      def present
        @options.present && outcomes([@options.present]).first
      end

      # All Outcomes, the best first.
      def ordered
        @ordered ||= @ranking.order(outcomes(measurements.keys | @found.outcomes.map(&:setting)))
      end

      # Predicted, with what was measured.
      def outcomes(settings)
        settings.map do |setting|
          outcome, found = @search.outcome(setting), measurements[setting]
          found ? outcome.confirmed(found) : outcome
        end
      end

      # Response times that were measured hold at their rate. The model that was corrected since may have another one.
      def measured_demand
        Demand.open(@verified.rate) if measurements.any?
      end

      # They are of the cores here, so they say nothing of other numbers of cores but by the model's corrections.
      def measurements
        @cores == @here && @verified ? @verified.measurements : {}
      end

      def kind_of(best)
        return :none if best.excess(@limits).any?
        return :best unless present
        return :keep if best.setting == present.setting
        return :fits if present.excess(@limits).any?
        return :change if more?(best) || shorter?(best)

        cheaper?(best) ? :cheaper : :keep
      end

      # Whether the capacity is measurably higher, and of use: beyond a target rate with room it is not.
      def more?(outcome)
        return false if @limits.rate && present.capacity.value >= @limits.rate / Ranking::ROOM

        better?(:capacity, outcome) { outcome.capacity.value > present.capacity.value * (1 + Ranking::CAPACITY) }
      end

      def shorter?(outcome)
        better?(:p95, outcome) { outcome.p95 && outcome.p95.value < present.p95.value * (1 - Ranking::TAIL) }
      end

      # By the lab's comparison where both were measured, otherwise by the block.
      def better?(measure, outcome)
        return yield unless outcome.measured && present.measured

        comparison(measure, outcome)&.better? || false
      end

      def comparison(measure, outcome)
        return unless present&.measured && outcome.measured && outcome.setting != present.setting

        @verified.compare(outcome.setting, present.setting)[measure]
      end

      def cheaper?(outcome)
        outcome.memory && present.memory && outcome.memory < present.memory * CHEAPER
      end

      def gains(choice)
        return if present.nil? || choice.setting == present.setting

        gains = %i[capacity p95].to_h do |measure|
          [measure, comparison(measure, choice)&.ratio || ratio(present[measure], choice[measure])]
        end
        # Response times of a server that can't keep up grow with the length of the run.
        [present, choice].any?(&:overloaded?) ? gains.merge(p95: nil) : gains
      end

      def ratio(one, other)
        return unless one&.value&.positive? && other&.value&.finite?

        Lab::Statistics::Estimate.new(other.value / one.value, nil, nil, nil)
      end

      # What the verification would have seen of every setting that it tried.
      def detectable
        ordered.filter_map { |outcome| comparison(:capacity, outcome)&.detectable }.max
      end

      # What it changes in the configuration file, or why that can't be done.
      def edit(setting)
        path = @options.configuration or return
        edit = Edit.new(path)
        refusal = edit.refusal(setting)
        { "path" => path, "refusal" => refusal, "diff" => (edit.diff(setting) unless refusal) }
      end

      # As good as the choice, as far as anything can tell.
      def alternatives(choice)
        keeping = ordered.select { |outcome| outcome.excess(@limits).empty? }
        least = keeping.filter_map(&:memory).min
        equals = @ranking.equals([choice, *keeping].uniq).reject { |outcome| outcome.setting == choice.setting }
        equals.sort_by { |outcome| @ranking.cost(outcome, least) }.first(ALTERNATIVES)
      end

      # The neighbours of the choice, by the model on both sides. It takes threads auto for a number of them, so if both
      # were measured, the measurement takes the model's place.
      def what_ifs
        from = @search.outcome(chosen)
        near = @found.grid.around(chosen) | [from.stand_in].compact
        near = near.select { |setting| setting.auto? == chosen.auto? || !setting.beside?(chosen) } if rivals
        pairs = near.map { |setting| [from, @search.outcome(setting)] }
        pairs << [rivals.auto, rivals.number].sort_by { |each| each.setting == chosen ? 0 : 1 } if rivals
        pairs.map { |pair| Advice::WhatIf.new(from: pair.first, to: pair.last) }
      end

      def chosen
        kind_of(best) == :keep ? present.setting : best.setting
      end

      # Of the chosen engine if it has threads, otherwise of the first one that has.
      def map
        engine = [chosen.engine, "hybrid", *@options.engines].find do |name|
          @options.engines.include?(name) && Engines.traits(name).pooled?
        end or return

        grid = @found.grid
        workers, choices = grid.workers(engine), grid.choices(engine)
        rows = workers.map do |processes|
          choices.map { |choice| @found.capacities[grid.at(engine, processes, choice)] }
        end
        Advice::Map.new(engine: engine, workers: workers, threads: choices, rows: rows)
      end

      # What the profile alone predicted, beside what was then measured.
      def checks
        return [] unless @verified

        margin = Margin.new(before)
        model = @model.call(before)
        @verified.measurements.flat_map do |setting, found|
          [[Demand.closed(@verified.connections), { capacity: found.capacity }],
           [Demand.open(@verified.rate), found.to_h.slice(:p50, :p95, :p99)]].flat_map do |demand, figures|
            forecast = model.forecast(setting, demand, cores: @here)
            figures.compact.filter_map { |name, measured| check(name, measured, forecast, margin) }
          end
        end
      end

      def before
        @before ||= @profile.with(corrections: [])
      end

      # The capacity is compared with the rate of the same closed loop.
      def check(name, measured, forecast, margin)
        predicted = margin.around(name, name == :capacity ? closed(forecast) : forecast)
        return unless predicted&.value&.finite? && measured.value.positive?

        Advice::Check.new(setting: forecast.setting, demand: forecast.demand, figure: name, predicted: predicted,
                          measured: measured)
      end

      def closed(forecast)
        Forecast.new(**forecast.to_h, capacity: forecast.rate)
      end

      # The best setting with twice the cores, with a database that is twice as slow, at twice the rate.
      def changes
        [change(:cores, @cores * 2, cores: @cores * 2),
         (change(:wait, 2, wait: 2) if @profile.mean_wait > WAITS * @profile.mean_cpu),
         (change(:rate, @limits.rate * 2, rate: @limits.rate * 2) if @limits.rate)].compact
      end

      def change(what, value, cores: @cores, wait: 1, rate: @limits.rate)
        limits = Limits.new(**@limits.to_h, rate: rate, cores: (cores if @limits.cores))
        search = search(Circumstances.profile(@profile, wait: wait), cores, limits, forecasts: QUICK)
        found = search.run
        auto = found.grid.auto_beside(found.best.setting) if chosen.auto?
        Advice::Change.new(what: what, value: value, outcome: auto ? search.outcome(auto) : found.best)
      end
    end
  end
end

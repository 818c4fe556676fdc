# frozen_string_literal: true

require "shellwords"

module Cuttle
  module Tuner
    module Report
      # The sentences of an Advice.
      module Words
        LIMITED_BY = {
          cores: "the cores limit it", gvl: "the GVL of each process limits it",
          slots: "the number of requests at once (its slots) limits it",
          connections: "the database's connections limit it", demand: "only the load limits it"
        }.freeze
        ROUGH = 0.2 # a verification that detects no smaller difference shows little

        module_function

        # The answer in one sentence.
        def headline(advice)
          name = advice.choice.setting.name
          have = advice.present && "#{advice.present.setting.name} (#{advice.place})"
          return "Run #{name}: your present setting, #{have}, can't serve this app: #{advice.failure}." if
            advice.failure && advice.kind == :change

          case advice.kind
          when :best then "Run #{name}."
          when :change then "Run #{name} instead of #{have}: #{gains(advice)}."
          when :fits then "Run #{name}: your present setting, #{have}, breaks a limit: " \
                          "#{LimitWords.excess(advice.present, advice.limits)}."
          when :cheaper then "Run #{name}: it is #{"predicted to be " unless advice.choice.measured}as fast as " \
                             "#{have}#{at_rate(advice)}, and takes " \
                             "#{Numbers.size(advice.present.memory - advice.choice.memory)} less memory."
          when :keep then "Keep #{have}: #{nothing_better(advice)}."
          when :none then "No setting keeps the limits. #{name} comes nearest: " \
                          "#{LimitWords.excess(advice.choice, advice.limits)}."
          end
        end

        # Why the present setting stays.
        def nothing_better(advice)
          return "no setting is predicted to be better#{at_rate(advice)}" unless advice.choice.measured
          return "too little was measured to find a better setting" unless compared?(advice)

          "no setting is measurably better#{at_rate(advice)}"
        end

        # With a target rate, capacity beyond it counts for nothing.
        def at_rate(advice)
          " at #{advice.demand.name}" if advice.limits.rate
        end

        # Whether another setting was measured too, in enough rounds to compare them.
        def compared?(advice)
          advice.choice.rounds > 1 && advice.checks.any? { |each| each.setting != advice.choice.setting }
        end

        # "1.18 times the requests per second, p95 0.70 times as long"
        def gains(advice)
          [[:capacity, "times the requests per second"], [:p95, "times the p95"]].filter_map do |name, text|
            gain = advice.gains&.[](name)
            "#{Values.gain(gain)} #{text}" if gain
          end.join(", ")
        end

        # The answer in figures: sentences.
        def sentences(advice)
          why = limit_of_auto(advice.capped) if advice.capped
          return [capacity(advice), times(advice), why].compact if advice.choice.overloaded?

          [capacity(advice), times(advice), occupies(advice.choice), pool(advice), fibers(advice), headroom(advice),
           seen(advice),
           why || nothing_to_choose(advice.threads)].compact
        end

        def capacity(advice)
          choice = advice.choice
          from = source(choice, %i[capacity])
          "It serves #{Values.estimate(choice.capacity, :rate)}/s at most (#{from}); #{LIMITED_BY[choice.limit]}."
        end

        # Where these figures come from. Of a verified setting, some may be predicted all the same.
        def source(outcome, figures = %i[capacity p50 p95 p99])
          if outcome.measured
            figures &= %i[capacity] if outcome.overloaded?
            told = figures.select { |name| outcome[name] && !outcome.measured?(name) }
            return ["measured in #{Units.plural(outcome.rounds, "round")}", *predicted(told)].join(", ")
          end

          [outcome.beyond ? "extrapolated" : "predicted", taken_for(outcome)].compact.join(" ")
        end

        # "p95 and p99 predicted", or nil without names
        def predicted(names)
          *others, last = names
          "#{[*(others.join(", ") if others.any?), last].join(" and ")} predicted" if last
        end

        # How a forecast treats -t auto, or nil: "as -t 5"
        def taken_for(outcome)
          "as -t #{outcome.stand_in.threads}" if outcome.stand_in && !outcome.measured
        end

        def times(advice)
          choice = advice.choice
          if choice.overloaded?
            return "It can't keep up with #{advice.demand.name} (#{origin(advice)}): requests wait longer and longer."
          end

          figures = %i[p50 p95 p99].filter_map do |name|
            guessed = "predicted " if choice.measured && !choice.measured?(name)
            "#{guessed}#{name} #{Values.estimate(choice[name], :seconds)}" if choice[name]
          end
          "At #{advice.demand.name}: #{figures.join(", ")}."
        end

        def occupies(outcome)
          parts = [("#{Numbers.size(outcome.memory)} of memory" if outcome.memory),
                   (connections_of(outcome) if outcome.connections),
                   ("#{Numbers.ratio(outcome.cpu)} cores at that rate" if outcome.cpu)].compact
          "It takes #{parts.join(", ")}." if parts.any?
        end

        # More threads than the user has now need more connections. -t auto starts no more than there are.
        def pool(advice)
          number, have = [advice.choice, advice.present].map { |outcome| number_of_threads(outcome&.setting) }
          number ||= pool_of_auto(advice)
          return if number.nil? || (have && have >= number)

          if advice.choice.connections
            "Each process needs a database pool of #{Units.plural(number, "connection")} " \
              "(with Rails: RAILS_MAX_THREADS=#{number})."
          elsif advice.capped
            "If the app has a pool of connections, it needs #{number} in each process."
          end
        end

        # What limits the connections of the engine fibers, which has no threads to count.
        def fibers(advice)
          return unless advice.choice.setting.traits.fibers? && advice.choice.connections

          number = advice.max_fibers
          return "Each request may hold a database connection, up to the size of the app's pool." unless number

          "Each request may hold a database connection, so it keeps --db-connections only with --max-fibers " \
            "#{number} (in a configuration file: max_fibers #{number})."
        end

        # A new -t auto without a limit was measured with the pool of the number of threads beside it.
        def pool_of_auto(advice)
          advice.threads.number.setting.threads if advice.threads && advice.kind != :keep
        end

        # The number that the setting gives, for -t auto as its limit; nil if it gives none.
        def number_of_threads(setting)
          setting&.auto? ? setting.max_threads : setting&.threads
        end

        def headroom(advice)
          "Headroom: it can serve #{Numbers.count(advice.headroom)} times #{advice.demand.name} (#{origin(advice)})."
        end

        # Where the demand comes from. What was predicted before the verification may differ from what it found.
        def origin(advice)
          advice.limits.rate ? "the target rate" : "#{Values.percent(Ranking::ROOM)} of the best predicted capacity"
        end

        # The number may be a maximum: -t auto starts more threads later, and fibers takes more requests.
        def connections_of(outcome)
          "#{"up to " if outcome.setting.grows?}#{Units.plural(outcome.connections, "database connection")}"
        end

        # Why -t auto by itself is not the answer. capped: see Advice.
        def limit_of_auto(capped)
          given = capped.setting.max_threads || capped.connections
          reason = given ? "its limit" : "because no database pool is known"
          tail = ", p95 #{Values.time(capped.p95.value)} at #{capped.demand.name}" if capped.p95 && !capped.overloaded?
          "Threads: -t auto stops at #{capped.stand_in.threads}, #{reason}: " \
            "#{Numbers.rate(capped.capacity.value)}/s at most#{tail} (#{source(capped, %i[capacity p95])})."
        end

        # rivals: an Advice::Threads, or nil. A limit of auto is a number to choose.
        def nothing_to_choose(rivals)
          return if rivals.nil? || rivals.loses

          auto, number = [rivals.auto, rivals.number].map(&:setting)
          share = rivals.detectable
          detected = "#{"only " if share > ROUGH}a difference of #{Numbers.effect(share)}" if share
          "Threads: #{"nothing to choose. " unless auto.max_threads}" \
            "#{threads(auto)} is not measurably worse than #{threads(number)}" \
            "#{" (#{detected} in capacity would have been detected)" if detected}."
        end

        def threads(setting)
          ["-t #{setting.threads}", *("--max-threads #{setting.max_threads}" if setting.max_threads)].join(" ")
        end

        # What "measurably" means.
        def seen(advice)
          share = advice.detectable or return
          difference = "difference of #{Numbers.effect(share)} in capacity would have been detected"
          return "A #{difference}." if share <= ROUGH

          "Only a #{difference}: measure on a quieter machine, or with a larger --budget."
        end

        # What the answer would be under another circumstance.
        def circumstance(advice, each)
          now = each.outcome.setting == advice.choice.setting ? "the same setting" : each.outcome.setting.name
          broken = each.excess.to_h.keys.map { |name| LimitWords::FIGURES.fetch(name.to_sym) }
          "#{asked(each)}: #{now}, #{Values.estimate(each.outcome.capacity, :rate)}/s at most" \
            "#{"; it breaks a limit: #{broken.join(", ")}" if broken.any?}"
        end

        def asked(change)
          case change.what
          when :cores then "with #{change.value} cores"
          when :wait then "if everything that requests wait for took twice as long"
          when :rate then "at #{Numbers.rate(change.value)}/s"
          end
        end

        # "measured / predicted 1.03"
        def check(each)
          name = each.figure == :capacity ? :rate : :seconds
          [each.setting.name, each.demand.name, each.figure.to_s, Values.estimate(each.predicted, name),
           Values.estimate(each.measured, name), Numbers.ratio(each.ratio), each.held? ? "" : "outside"]
        end

        # The command line that repeats the tune.
        def command(advice)
          advice.command.map { |word| word.match?(%r{\A[\w\-./:=,+@%]+\z}) ? word : Shellwords.escape(word) }.join(" ")
        end
      end
    end
  end
end

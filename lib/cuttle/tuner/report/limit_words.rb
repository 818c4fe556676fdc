# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # Words on what an Outcome has to do with the Limits.
      module LimitWords
        FIGURES = { rate: "capacity", p99: "p99", queue_p99: "queue p99", memory: "memory",
                    connections: "database connections" }.freeze

        module_function

        # "p99 310 ms, 1.55 times the limit of 200 ms"; "p99 of at least 310 ms, …" if only its lower bound is known.
        def excess(outcome, limits)
          outcome.excess(limits).map do |name, ratio|
            value = figure(name, name == :rate ? outcome.capacity.value : outcome.judged[name])
            value = qualified(outcome, value) if name == :p99 && ratio.finite?
            next "capacity #{value}, below the rate of #{figure(name, limits.rate)}" if name == :rate

            times = ratio.finite? ? ", #{Numbers.count(ratio)} times the limit of " : ", over the limit of "
            "#{FIGURES[name]} #{value}#{times}#{figure(name, limits[name])}"
          end.join("; ")
        end

        # "p99 195 ms (180 to 215 ms), limit 200 ms": an interval that contains the limit.
        def undecided(outcome, name, limits)
          told = name == :rate ? "#{Values.estimate(outcome.capacity, :rate)}/s" : open_ended(outcome, name)
          "#{FIGURES[name]} #{told}, limit #{figure(name, limits[name])}"
        end

        # A response time that may be without end.
        def open_ended(outcome, name)
          return qualified(outcome, Values.time(outcome.judged[name])) unless outcome[name]

          endless = "without end" if outcome.at(:worst).judged[name].infinite?
          [Values.estimate(outcome[name], :seconds), endless].compact.uniq.join(" or ")
        end

        # A p99 without enough responses: "of at least 310 ms", "310 ms (predicted)".
        def qualified(outcome, value)
          return "of at least #{value}" if outcome.p99.nil?

          outcome.measured && !outcome.measured?(:p99) ? "#{value} (predicted)" : value
        end

        def figure(name, value)
          case name
          when :memory then Numbers.size(value)
          when :connections then Numbers.count(value)
          when :rate then "#{Numbers.rate(value)}/s"
          else Values.time(value)
          end
        end
      end
    end
  end
end

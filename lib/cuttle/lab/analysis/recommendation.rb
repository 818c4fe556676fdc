# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # The lab's recommendation, as a value without text. Rates are compared in the closed loop with the most
      # connections, response times in the open loop with the highest rate that some configuration can serve. Frozen.
      class Recommendation
        # role: :fastest, :cheapest (as fast as the fastest, in the least memory), :best_tail (the shortest p95) or
        # :pick. rate: Estimate, responses/s in the closed loop. p95: Estimate, ms in the open loop. memory: octets.
        # cpu_us: microseconds of CPU time for each response. Each is nil if it was not measured. equals: the
        # configurations that are as good in that respect (see Ranking), without this one.
        Choice = Struct.new(:role, :configuration, :rate, :p95, :memory, :cpu_us, :equals, keyword_init: true) do
          # Whether nothing is better than +configuration+ in this respect.
          def covers?(configuration)
            self.configuration == configuration || equals.include?(configuration)
          end
        end

        # closed, open: the loads that decide. speed, tail: the Rankings under them. All may be nil. coverage: which
        # configurations were compared with the best one under the first of these loads; nil if nothing was measured.
        attr_reader :closed, :open, :speed, :tail, :coverage

        def initialize(analysis)
          @analysis = analysis
          @closed = busiest
          @open = highest
          @speed = @closed && analysis.ranking(load: @closed)
          @tail = @open && analysis.ranking(load: @open)
          @first = @speed || @tail # the ranking that decides first
          @coverage = @first && Coverage.new(analysis, @first)
          choices
          freeze
        end

        # The candidates as Choices: fastest, cheapest, best_tail. Empty if nothing was measured.
        def choices
          @choices ||= [choice(:fastest, @speed&.best&.configuration, leaders(@speed)), choice(:cheapest, cheapest, []),
                        choice(:best_tail, @tail&.best&.configuration, leaders(@tail))].compact.freeze
        end

        # The Choice with that role, or nil.
        def [](role)
          choices.find { |each| each.role == role }
        end

        # The Choice to run. If some of the fastest configurations also have the best response times, the cheapest of
        # these; otherwise the cheapest of the fastest. Only flawless ones count. nil if there is a doubt.
        def pick
          choice(:pick, candidate, []) unless doubt
        end

        # Why there is no pick: :control (it disagrees under a load that decides), :comparisons (there are too few),
        # :faults (each of the best configurations had some). nil if there is a pick.
        def doubt
          return :control if disagreement
          return :comparisons unless @coverage&.enough?

          :faults unless candidate
        end

        # Whether there is a pick.
        def decided?
          doubt.nil?
        end

        # The control, a Comparison, that differs from its original under a load that decides, or nil.
        def disagreement
          @analysis.controls.find { |each| deciding.include?(each.load) && each.different? }
        end

        # The fastest, or those with the best response times, that are not flawless under the loads that decide.
        def flawed
          leading = leaders(@speed) | leaders(@tail)
          leading - flawless(leading)
        end

        # Configurations that may be as good as the best ones or not.
        def unclear
          [@speed, @tail].compact.flat_map { |ranking| ranking.configurations(:unclear) }.uniq
        end

        private

        def deciding
          [@closed, @open].compact
        end

        def candidate
          cheapest_of(flawless(leaders(@speed) & leaders(@tail))) || cheapest_of(flawless(leaders(@first)))
        end

        # Those whose every run under the loads that decide was made and counts.
        def flawless(configurations)
          configurations.select { |each| deciding.all? { |load| @analysis.row(each, load)&.flawless? } }
        end

        def busiest
          loads.reject(&:open?).max_by { |load| load.connections.to_i }
        end

        def highest
          loads.select(&:open?).max_by { |load| load.rate.to_f }
        end

        # The loads under which something was measured, and could serve the rate of an open loop.
        def loads
          @analysis.results.loads.select { |load| @analysis.best(load: load) }
        end

        def leaders(ranking)
          ranking ? ranking.configurations(:best) : []
        end

        def cheapest
          cheapest_of(leaders(@first))
        end

        # Memory first, because equally fast configurations take about the same CPU time.
        def cheapest_of(configurations)
          configurations.min_by do |each|
            figures(each).values_at(:memory, :cpu_us).map { |cost| cost || Float::INFINITY }
          end
        end

        def choice(role, configuration, leaders)
          return unless configuration

          Choice.new(role: role, configuration: configuration, **figures(configuration),
                     equals: leaders - [configuration]).freeze
        end

        def figures(configuration)
          closed, open = [@closed, @open].map { |load| load && @analysis.row(configuration, load) }
          costs = [closed, open].compact.find(&:measured?)
          { rate: closed&.rate, p95: open&.p95, memory: costs&.pss_total, cpu_us: costs&.cpu_us }
        end
      end
    end
  end
end

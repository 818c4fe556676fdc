# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # The measured values by configuration, load and round; the pairs to compare; and their variation.
      class Values
        attr_reader :configurations

        def initialize(results)
          @loads = results.loads
          @by_round = Hash.new { |_, _| {} }
          @units = Hash.new { |hash, key| hash[key] = [] }
          results.runs.select(&:valid?).each { |run| add(run, Measure.of(results.load(run.load))) }
          @configurations = results.configurations.select do |each|
            @loads.any? { |load| @by_round.key?([each.id, load.id]) }
          end
        end

        def configuration(id)
          configurations.find { |each| each.id == id }
        end

        def load(id)
          @loads.find { |each| each.id == id }
        end

        # { round => value }
        def values(configuration, load)
          @by_round[[configuration, load]]
        end

        # Controls whose original was measured.
        def controls
          configurations.select { |each| each.control_of && configuration(each.control_of) }
        end

        # The comparisons that the lab planned, as ids of [configuration, baseline, load]: every configuration with the
        # baseline, and each control with its original.
        def planned(baseline)
          compared = originals.reject { |each| each == baseline }.map { |each| [each.id, baseline.id] }
          everywhere(compared + controls.map { |each| [each.id, each.control_of] })
        end

        # The same for every pair of configurations.
        def pairs
          compared = originals.combination(2).map { |baseline, other| [other.id, baseline.id] }
          everywhere(compared + controls.map { |each| [each.id, each.control_of] })
        end

        # Two configurations under a load (ids), paired by round: a Statistics::Paired of configuration / baseline.
        def paired(configuration, baseline, load)
          pair = [baseline, configuration]
          units = pair.map { |id| Load::Statistics.mean(@units.fetch([id, load], [0.0])) }
          Statistics::Paired.of(*pair.map { |id| values(id, load) }, noise: noise(configuration, baseline, load),
                                                                     rounding: Statistics.rounding(*units))
        end

        private

        def add(run, measure)
          value = measure.value(run) or return
          key = [run.configuration, run.load]
          @by_round[key] = @by_round[key].merge(run.block => value)
          @units[key] << measure.unit_of(run)
        end

        def originals
          configurations.reject(&:control_of)
        end

        def everywhere(pairs)
          @loads.flat_map { |load| pairs.map { |pair| [*pair, load.id] } }
        end

        # The variation of a pair: that of its two configurations, each moderated by the lab's usual variation. If the
        # lab has too few configurations to know the usual variation, only the pair's own rounds count.
        def noise(configuration, baseline, load)
          spreads = layout(load).values_at(configuration, baseline)
          usual = usual(Measure.of(load(load)))
          usual.equal?(Statistics::Noise::NONE) || !spreads.all? ? Statistics::Noise::NONE : usual.pair(*spreads)
        end

        # The loads of a round share one start of a server, so they are not independent (see repeats).
        def usual(measure)
          @usual ||= {}
          @usual[measure] ||= begin
            loads = @loads.select { |load| Measure.of(load) == measure }
            Statistics::Noise.of(loads.flat_map { |load| layout(load.id).values }, repeats: loads.length)
          end
        end

        # { configuration => [variance, degrees of freedom] } under that load.
        def layout(load)
          @layouts ||= {}
          @layouts[load] ||= begin
            there = configurations.to_h { |each| [each.id, values(each.id, load)] }
            Statistics::Layout.new(there).spreads
          end
        end
      end

      # The quantity by which configurations are compared under a load: the rate in a closed loop. In an open loop the
      # load sets the rate, so it is the 95th percentile of the response time.
      class Measure
        def self.of(load)
          load.open? ? TIME : RATE
        end

        # name: :rate or :p95. unit: the unit of its values.
        attr_reader :name, :unit

        def initialize(name, unit)
          @name = name
          @unit = unit
          freeze
        end

        # The value of a run, or nil.
        def value(run)
          name == :rate ? run.rate : run.time(name.to_s) || rough(run.histogram)
        end

        # The unit to which the value of a run is rounded, as a share of it: a response of all that were counted, or a
        # slot of a histogram. 0 if unknown.
        def unit_of(run)
          return SLOT unless name == :rate

          run.responses&.positive? ? 1.0 / run.responses : 0.0
        end

        # The Estimate of a row, or nil.
        def estimate(row)
          row.public_send(name)
        end

        # The value by which rows are in order, or nil. (A p95 of all responses together may be that of one bad run.)
        def typical(row)
          row.typical || estimate(row)&.value
        end

        # A number that is greater for a better value.
        def goodness(value)
          name == :rate ? value : -value
        end

        # With too few responses beyond it, a percentile is not reported, but it can be compared with those of other
        # runs: its variation shows between the rounds.
        def rough(histogram)
          histogram.value_at(PERCENTILE) / 1e6 if histogram && histogram.count >= FEW
        end
        private :rough

        PERCENTILE = 95
        FEW = 40 # responses; two of them lie beyond the percentile
        SLOT = 1 / 1024.0 # the most that a slot of Load::Histogram is wide, as a share of its values
        private_constant :PERCENTILE, :FEW, :SLOT

        RATE = new(:rate, "requests/s")
        TIME = new(:p95, "ms")
        private_constant :RATE, :TIME
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # The values of a lab by configuration, load and block; which of them are compared, and how restless they are.
      class Values
        attr_reader :configurations

        def initialize(results)
          @loads = results.loads
          @by_round = Hash.new { |_, _| {} }
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

        # Those that repeat another which was measured.
        def controls
          configurations.select { |each| each.control_of && configuration(each.control_of) }
        end

        # [configuration, baseline, load] (ids) of what the lab set out to compare: all with the baseline, and each control
        # with what it repeats.
        def planned(baseline)
          compared = originals.reject { |each| each == baseline }.map { |each| [each.id, baseline.id] }
          everywhere(compared + controls.map { |each| [each.id, each.control_of] })
        end

        # The same of every pair.
        def pairs
          compared = originals.combination(2).map { |baseline, other| [other.id, baseline.id] }
          everywhere(compared + controls.map { |each| [each.id, each.control_of] })
        end

        # What is usual in comparisons by +measure+: learnt from neighbours, each configuration in one pair only, so
        # that they are independent; but the loads of a block are put on one start of a server.
        def noise(measure)
          @noise ||= {}
          @noise[measure] ||= begin
            loads = @loads.select { |load| Measure.of(load) == measure }
            Statistics::Noise.of(spreads(loads), repeats: loads.length)
          end
        end

        private

        def add(run, measure)
          value = measure.value(run)
          key = [run.configuration, run.load]
          @by_round[key] = @by_round[key].merge(run.block => value) if value
        end

        def originals
          configurations.reject(&:control_of)
        end

        def everywhere(pairs)
          @loads.flat_map { |load| pairs.map { |pair| [*pair, load.id] } }
        end

        def spreads(loads)
          loads.flat_map do |load|
            there = configurations.map { |each| values(each.id, load.id) }.reject(&:empty?)
            there.each_slice(2).filter_map { |one, other| Statistics::Paired.of(one, other).spread if other }
          end
        end
      end

      # By what configurations are compared under a load. In a closed loop the rate; in an open loop that is the load's
      # own, and the response time, of which p95, tells.
      class Measure
        def self.of(load)
          load.open? ? TIME : RATE
        end

        # name: :rate or :p95. unit: of values.
        attr_reader :name, :unit

        def initialize(name, unit)
          @name = name
          @unit = unit
          freeze
        end

        # Of a run, or nil.
        def value(run)
          name == :rate ? run.rate : run.time(name.to_s)
        end

        # Of a row, or nil.
        def estimate(row)
          row.public_send(name)
        end

        # Greater for the better of two values.
        def goodness(value)
          name == :rate ? value : -value
        end

        RATE = new(:rate, "requests/s")
        TIME = new(:p95, "ms")
        private_constant :RATE, :TIME
      end
    end
  end
end

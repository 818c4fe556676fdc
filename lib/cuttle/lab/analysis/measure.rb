# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
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

# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The highest rate of a setting, by arithmetic: a closed network of queues in which as many requests as there are
      # slots circulate without end.
      class Network
        # Requests whose times vary by a third of their mean meet as if they came by chance.
        UNEVEN = 3

        # Bounds that are so near to the least one count as equal.
        NEAR = 1.02

        # Requests of a unit from which more change nothing.
        ENOUGH = 512

        TINY = 1e-9 # seconds; nothing takes no time

        def initialize(work:, rules:, machine:, contention: 0.0)
          @work = work
          @rules = rules
          @machine = machine
          @cpu = [work.cpu, TINY].max
          @cpu += contention * (inside - 1)
        end

        # [requests per second, what limits them]: the first of the least bounds.
        def capacity
          least = bounds.values.min
          [rate, bounds.find { |_, bound| bound <= least * NEAR }.first]
        end

        # The share of what the GVLs and the cores could do that the highest rate takes.
        def use
          rate / bounds.values_at(:cores, :gvl).min
        end

        private

        # Upper bounds of the rate by what is used up then.
        def bounds
          { cores: @machine.power / @cpu,
            gvl: @rules.units * @machine.speed([@rules.units, @machine.cores].min) / locked,
            connections: @work.wait.positive? ? @rules.units * @rules.pool / @work.wait : Float::INFINITY,
            slots: @rules.places / (@cpu + @work.wait) }
        end

        # Seconds that a request needs the GVL.
        def locked
          [@cpu * (1 - @work.unlocked), TINY].max
        end

        # Requests that a unit has in the app at once under full load: as many as keep the GVL busy, if new ones wait
        # for that; otherwise as many as there are slots.
        def inside
          @rules.early ? @rules.slots : [@rules.slots, (@cpu + @work.wait) / locked].min
        end

        # Computing is slower the more units compute, and they compute less the slower it is: until both agree.
        def rate
          slowdown = 1.0
          found = 0.0
          20.times do
            found = unit_rate(slowdown)
            busy = [found * @cpu * slowdown, 1.0].min
            slowdown = (slowdown + crowding(busy)) / 2
          end
          [@rules.units * found, *bounds.values].min
        end

        # Mean of 1 / speed, as one unit finds it that computes while each of the others does with this probability.
        def crowding(busy)
          others = @rules.units - 1
          probability = (1 - busy)**others
          return 1 / @machine.speed(@rules.units) if probability < 1e-12

          (0..others).sum do |count|
            share = probability
            probability *= (others - count) * busy / ((count + 1) * (1 - busy)) if count < others
            share / @machine.speed(count + 1)
          end
        end

        # One unit by itself: between the rate of requests that are all alike, which never meet, and that of requests
        # that meet by chance.
        def unit_rate(slowdown)
          even = [@rules.slots / ((@cpu * slowdown) + @work.wait), 1 / (locked * slowdown)].min
          even + ((mean_values(slowdown) - even) * [@work.variation * UNEVEN, 1].min)
        end

        # Approximate mean value analysis of a station with a queue (the GVL) and one without (the waiting).
        def mean_values(slowdown)
          stretches = [@work.waits, 1].max
          stretch = locked * slowdown / stretches
          residual = [@work.squared_stretch * (slowdown**2) / (2 * stretch), stretch].min
          away = (@work.wait + (@cpu * @work.unlocked * slowdown)) / stretches
          queue = used = rate = 0.0
          1.upto([@rules.slots, ENOUGH].min) do |population|
            time = stretch + (stretch * [queue - used, 0].max) + (residual * used)
            rate = population / (away + time)
            rate = 1 / stretch if rate * stretch > 1
            queue = rate * time
            used = rate * stretch
          end
          rate / stretches
        end
      end
    end
  end
end

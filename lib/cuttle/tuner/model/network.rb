# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The highest rate of a setting, by arithmetic: a closed network of queues, in which as many requests circulate as
      # there are slots.
      class Network
        # Requests whose times vary by a third of their mean meet each other as if at random times.
        UNEVEN = 3

        # Bounds within this factor of the lowest bound count as equal to it.
        NEAR = 1.02

        # Above this number of requests in a unit, the result no longer changes.
        ENOUGH = 512

        TINY = 1e-9 # seconds; avoids a division by 0

        # Of the iteration: steps at most, and the relative change that ends it.
        STEPS, EXACT = 200, 1e-6

        def initialize(work:, rules:, machine:, contention: 0.0)
          @work = work
          @rules = rules
          @machine = machine
          @cpu = [work.cpu, TINY].max
          @cpu += contention * (inside - 1)
        end

        # [requests per second, what limits them]: the first of the lowest bounds.
        def capacity
          least = bounds.values.min
          [rate, bounds.find { |_, bound| bound <= least * NEAR }.first]
        end

        # The share of the GVLs' and the cores' capacity that the highest rate uses.
        def use
          rate / bounds.values_at(:cores, :gvl).min
        end

        private

        # Upper bounds of the rate, each with the resource that is exhausted at it.
        def bounds
          { cores: @machine.power / @cpu,
            gvl: @rules.units * @machine.speed([@rules.units, @machine.cores].min) / locked,
            connections: @work.wait.positive? ? @rules.units * @rules.pool / @work.wait : Float::INFINITY,
            slots: @rules.places / (@cpu + @work.wait) }
        end

        # Seconds for which a request needs the GVL.
        def locked
          [@cpu * (1 - @work.unlocked), TINY].max
        end

        # The number of requests that a unit has in the app at once under full load: as many as keep the GVL busy, if
        # new requests wait for the GVL outside the app; otherwise the number of slots.
        def inside
          @rules.early ? @rules.slots : [@rules.slots, (@cpu + @work.wait) / locked].min
        end

        # Iterates to a fixed point: more units that compute lower the speed, and a lower speed changes how much they
        # compute.
        def rate
          slowdown = 1.0
          found = 0.0
          STEPS.times do
            found = unit_rate(slowdown)
            step = (crowding([found * @cpu * slowdown, 1.0].min) - slowdown) / 2
            break if step.abs < slowdown * EXACT

            slowdown += step
          end
          [@rules.units * found, *bounds.values].min
        end

        # The mean of 1 / speed as a computing unit sees it, while each of the other units computes with this
        # probability. Logarithms, because the probability that none of many units computes is too small for a Float.
        def crowding(busy)
          return 1 / @machine.speed(@rules.units) if busy >= 1

          computes, rests = Math.log(busy), Math.log(1 - busy)
          ways.each_with_index.sum do |number, count|
            share = Math.exp(number + (count * computes) + ((ways.length - 1 - count) * rests))
            share / @machine.speed(count + 1)
          end
        end

        # The logarithms of the numbers of ways in which 0, 1, 2, … of the other units can be those that compute.
        def ways
          @ways ||= begin
            others = @rules.units - 1
            (1..others).inject([0.0]) do |found, count|
              found << (found.last + Math.log((others - count + 1.0) / count))
            end
          end
        end

        # The rate of one unit alone: between that of identical requests, which never meet, and that of requests that
        # meet at random.
        def unit_rate(slowdown)
          even = [@rules.slots / ((@cpu * slowdown) + @work.wait), 1 / (locked * slowdown)].min
          even + ((mean_values(slowdown) - even) * [@work.variation * UNEVEN, 1].min)
        end

        # Approximate mean value analysis of a station with a queue (the GVL) and a station without a queue (the
        # waiting).
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

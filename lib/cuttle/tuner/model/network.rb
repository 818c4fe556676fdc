# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The highest rate of a setting, by arithmetic: a closed network of queues in which as many requests as there are
      # slots circulate without end.
      class Network
        # Requests whose times vary by a third of their mean meet as if they came by chance.
        UNEVEN = 3

        # The least of these rates that bounds a network is its limit, in this order where two are equal.
        def initialize(work:, rules:, machine:, contention: 0.0)
          @work = work
          @rules = rules
          @machine = machine
          @slots = [@rules.slots, 1024].min
          @cpu = work.cpu + (contention * (@slots - 1))
          @cpu = work.cpu if @rules.slots >= 1024
          @cpu = 1e-9 unless @cpu.positive?
        end

        # [requests per second, what limits them].
        def capacity
          [rate, limit]
        end

        # Upper bounds of the rate by what is used up then, as { limit => requests per second }.
        def bounds(requests = @rules.places)
          { cores: @machine.power / @cpu,
            gvl: @rules.units * @machine.speed([@rules.units, @machine.cores].min) / locked,
            connections: @work.wait.positive? ? @rules.units * @rules.pool / @work.wait : Float::INFINITY,
            slots: requests / (@cpu + @work.wait) }
        end

        private

        def locked
          [@cpu * (1 - @work.unlocked), 1e-9].max
        end

        def limit
          least = bounds.values.min
          bounds.find { |_, rate| rate <= least * 1.02 }.first
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
          even = [@slots / ((@cpu * slowdown) + @work.wait), 1 / (locked * slowdown)].min
          even + ((mean_values(slowdown) - even) * [@work.variation * UNEVEN, 1].min)
        end

        # Approximate mean value analysis of a station with a queue (the GVL) and one without (the waiting).
        def mean_values(slowdown)
          stretches = [@work.waits, 1].max
          stretch = locked * slowdown / stretches
          residual = [@work.squared_stretch * (slowdown**2) / (2 * stretch), stretch].min
          away = (@work.wait + (@cpu * @work.unlocked * slowdown)) / stretches
          queue = used = rate = 0.0
          1.upto([@slots, 512].min) do |population|
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

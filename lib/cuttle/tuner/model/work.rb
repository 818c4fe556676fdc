# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # A profile's requests under an engine: how long each computes and waits, and the averages. A request's CPU time
      # includes the engine's.
      #
      # The time a request waits can correlate with the time it computes. With a probability of the entry's correlation,
      # both have the same rank in their distributions. The ranks then have this correlation.
      class Work
        # Random variation of each request. Without it, requests of an even profile would stay in step.
        SCATTER = 0.04
        LOWEST, RANGE = 1 - SCATTER, 2 * SCATTER

        LEAST = 1e-9 # seconds of CPU time; avoids a division by 0

        # Random numbers from 0 to 1. Each thousandth comes exactly once in a thousand draws, so the mean of a few
        # thousand draws is that of the distribution, and results of simulations scatter less.
        class Deck
          CARDS = Array.new(1000) { |index| (index + 0.5) / 1000 }.freeze

          def initialize(random)
            @random = random
            @cards = CARDS.dup
            @next = CARDS.length
          end

          def draw
            if @next == CARDS.length
              @cards.shuffle!(random: @random)
              @next = 0
            end
            @next += 1
            @cards[@next - 1]
          end
        end

        # CPU time with the GVL and without it, and the number and the length of the waits.
        Draw = Struct.new(:locked, :unlocked, :waits, :wait)

        # profile: a Profile. engine: its name.
        def initialize(profile, engine)
          @entries = profile.entries
          @overhead = overhead(profile.overheads, engine)
          @total = @entries.sum(&:weight).to_f
        end

        # CPU seconds of the average request, including the engine's.
        def cpu
          @cpu ||= mean(&:mean_cpu) + @overhead
        end

        # Waiting time of the average request in seconds.
        def wait
          @wait ||= mean(&:mean_wait)
        end

        # The share of the CPU time that is without the GVL.
        def unlocked
          @unlocked ||= cpu.positive? ? mean { |entry| entry.mean_cpu * entry.unlocked } / cpu : 0.0
        end

        # The number of waits of the average request.
        def waits
          @waits ||= mean(&:waits)
        end

        # Coefficient of variation of a request's CPU time and waiting together.
        def variation
          @variation ||= begin
            average = mean { |entry| entry.mean_cpu + entry.mean_wait }
            square = mean { |entry| square_of_sum(entry) }
            average.positive? ? Math.sqrt([(square / (average**2)) - 1, 0].max) : 0.0
          end
        end

        # The second moment of a stretch of computing between two waits.
        def squared_stretch
          @squared_stretch ||= mean do |entry|
            stretches = [entry.waits, 1].max
            entry.cpu.sum { |cpu| ((cpu * (1 - entry.unlocked) + @overhead) / stretches)**2 } / entry.cpu.length
          end
        end

        # An endless source of Draws that uses this random generator.
        def draws(random)
          choice = Deck.new(random)
          sources = @entries.map { |entry| source(entry, random) }
          bounds = @entries.map(&:weight).inject([]) { |sums, weight| [*sums, weight / @total + (sums.last || 0)] }
          lambda do
            point = choice.draw
            next sources.first.call if sources.one?

            # Anywhere in the card's thousandth, so that rare kinds have their turn, too.
            point += (random.rand - 0.5) / Deck::CARDS.length
            sources[bounds.index { |bound| point <= bound } || -1].call
          end
        end

        private

        # The same for requests of one kind. Simulations take much of their time here.
        def source(entry, random)
          deck, other = Deck.new(random), Deck.new(random)
          cpus, waitings, waits, unlocked = entry.cpu, entry.wait, entry.waits, entry.unlocked
          correlation, share = entry.correlation, entry.correlation.abs
          lambda do
            point = deck.draw
            cpu = cpus[(point * cpus.length).to_i]
            # The rank of the waiting for that rank of the CPU time.
            rank = if share.zero? || random.rand >= share then other.draw
                   else
                     correlation.positive? ? point : 1 - point
                   end
            wait = waitings[(rank * waitings.length).to_i]
            number = wait.positive? ? [whole(waits, random), 1].max : 0
            cpu *= LOWEST + (RANGE * random.rand)
            free = cpu * unlocked
            each = number.zero? ? 0.0 : wait * (LOWEST + (RANGE * random.rand)) / number
            Draw.new([cpu - free + @overhead, LEAST].max, free, number, each)
          end
        end

        # A random whole number with the mean +number+.
        def whole(number, random)
          floor = number.floor
          floor == number ? floor : floor + (random.rand < number - floor ? 1 : 0)
        end

        # The engine's CPU time per request; if it was not measured, the mean of the measured engines.
        def overhead(overheads, engine)
          known = (overheads || {}).transform_keys(&:to_s)
          return known[engine] || (known.values.sum / known.length) if known.any?

          0.0
        end

        def mean
          @entries.sum { |entry| entry.weight * yield(entry) } / @total
        end

        # The mean of (CPU time + waiting)².
        def square_of_sum(entry)
          together = entry.correlation.abs
          waits = entry.correlation.negative? ? entry.wait.reverse : entry.wait
          product = (together * mean_product(entry.cpu, waits)) + ((1 - together) * entry.mean_cpu * entry.mean_wait)
          [entry.cpu, entry.wait].sum { |values| mean_product(values, values) } + (2 * product)
        end

        # The mean product of values of the same rank.
        def mean_product(one, other)
          points = [one.length, other.length].max
          Array.new(points) { |index|
            one[index * one.length / points] * other[index * other.length / points]
          }.sum / points
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # The requests of a profile under an engine: how much each computes and waits, and their averages. The engine's
      # own CPU time is part of a request's.
      #
      # One random number decides how long a request computes and how long it waits: requests that compute long wait
      # long. So the sum has the heaviest tail that the two distributions allow.
      class Work
        # No two requests are quite alike. Without this, requests of an even profile would keep step for ever.
        SCATTER = 0.04

        # Numbers from 0 to 1 at random, but each thousandth once in a thousand draws. So the mean of a few thousand
        # draws is that of the distribution, and runs of the simulation scatter less.
        class Deck
          CARDS = 1000

          def initialize(random)
            @random = random
            @cards = Array.new(CARDS) { |index| (index + 0.5) / CARDS }
            @next = CARDS
          end

          def draw
            if @next == CARDS
              @cards.shuffle!(random: @random)
              @next = 0
            end
            @next += 1
            @cards[@next - 1]
          end
        end

        # CPU time with the GVL and without, and the number and the length of the waits.
        Draw = Struct.new(:locked, :unlocked, :waits, :wait)

        # profile: a Profile. engine: its name.
        def initialize(profile, engine)
          @entries = profile.entries
          @overhead = overhead(profile.overheads, engine)
          @total = @entries.sum(&:weight).to_f
        end

        # CPU seconds of the average request, with the engine's.
        def cpu
          @cpu ||= mean(&:mean_cpu) + @overhead
        end

        # Seconds that the average request waits.
        def wait
          @wait ||= mean(&:mean_wait)
        end

        # Share of the CPU time that runs without the GVL.
        def unlocked
          @unlocked ||= cpu.positive? ? mean { |entry| entry.mean_cpu * entry.unlocked } / cpu : 0.0
        end

        # How often the average request waits.
        def waits
          @waits ||= mean(&:waits)
        end

        # Coefficient of variation of a request's CPU time and waiting together.
        def variation
          @variation ||= begin
            first, second = moments { |cpu, wait| cpu + wait }
            first.positive? ? Math.sqrt([(second / (first**2)) - 1, 0].max) : 0.0
          end
        end

        # The second moment of a stretch of computing between two waits.
        def squared_stretch
          @squared_stretch ||= mean do |entry|
            stretches = [entry.waits, 1].max
            entry.cpu.sum { |cpu| ((cpu * (1 - entry.unlocked) + @overhead) / stretches)**2 } / entry.cpu.length
          end
        end

        # An endless source of Draws from this random generator.
        def draws(random)
          choice = Deck.new(random)
          decks = @entries.map { Deck.new(random) }
          bounds = @entries.map(&:weight).inject([]) { |sums, weight| [*sums, weight / @total + (sums.last || 0)] }
          lambda do
            point = choice.draw
            index = bounds.length == 1 ? 0 : bounds.index { |bound| point <= bound } || (bounds.length - 1)
            draw(@entries[index], decks[index].draw, random)
          end
        end

        private

        def draw(entry, point, random)
          cpu = entry.cpu[(point * entry.cpu.length).to_i]
          wait = entry.wait[(point * entry.wait.length).to_i]
          waits = wait.positive? ? [whole(entry.waits, random), 1].max : 0
          cpu *= scatter(random)
          free = cpu * entry.unlocked
          Draw.new(cpu - free + @overhead, free, waits, waits.zero? ? 0.0 : wait * scatter(random) / waits)
        end

        def scatter(random)
          1 - SCATTER + (2 * SCATTER * random.rand)
        end

        # A whole number whose mean is +number+.
        def whole(number, random)
          floor = number.floor
          floor == number ? floor : floor + (random.rand < number - floor ? 1 : 0)
        end

        # The engine's CPU time per request; if it wasn't measured, the mean of those that were.
        def overhead(overheads, engine)
          known = (overheads || {}).transform_keys(&:to_s)
          return known[engine] || (known.values.sum / known.length) if known.any?

          0.0
        end

        def mean
          @entries.sum { |entry| entry.weight * yield(entry) } / @total
        end

        # The first two moments of a request's sum of both.
        def moments
          points = Array.new(Deck::CARDS) { |index| (index + 0.5) / Deck::CARDS }
          values = @entries.flat_map do |entry|
            points.map do |point|
              [entry.weight / @total / points.length,
               yield(entry.cpu[(point * entry.cpu.length).to_i], entry.wait[(point * entry.wait.length).to_i])]
            end
          end
          [1, 2].map { |power| values.sum { |weight, value| weight * (value**power) } }
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # The CPU times and waiting times, by shape, of requests that were sent one after the other.
      class Samples
        QUANTILES = 100 # of a distribution, at most
        FEW_WAITS = 0.05 # fewer waits per request, for less than this share of its CPU time, are chance

        # The samples of one shape. cpu, wait: seconds of each request. switches: how often its thread stopped running,
        # nil if unknown.
        Shape = Struct.new(:name, :weight, :cpu, :wait, :switches) do
          def count
            cpu.length
          end
        end

        # shapes: the Mix's shapes.
        def initialize(shapes)
          @shapes = shapes.to_h { |shape| [shape, Shape.new(shape.name, shape.weight, [], [], [])] }
          @total = @shapes.values.sum(&:weight)
        end

        def add(shape, cpu, wait, switches)
          found = @shapes.fetch(shape)
          found.cpu << cpu
          found.wait << wait
          found.switches << switches
        end

        def count
          @shapes.values.sum(&:count)
        end

        # The number of requests of the shape that has the fewest.
        def least
          @shapes.values.map(&:count).min
        end

        # Mean seconds in the app for each shape's requests.
        def times
          @shapes.values.map { |shape| Samples.mean(shape.cpu) + Samples.mean(shape.wait) }
        end

        # Mean seconds of a request of the mix. kind: :cpu or :wait.
        def mean(kind)
          @shapes.values.sum { |shape| shape.weight / @total * Samples.mean(shape[kind]) }
        end

        # The standard error of that mean.
        def error(kind)
          Math.sqrt(@shapes.values.sum do |shape|
            (shape.weight / @total)**2 * Samples.variance(shape[kind]) / [shape.count, 1].max
          end)
        end

        # The standard deviation over single requests of the mix, of all shapes.
        def deviation(kind)
          mean = mean(kind)
          Math.sqrt(@shapes.values.sum do |shape|
            shape.weight / @total * (Samples.variance(shape[kind]) + (Samples.mean(shape[kind]) - mean)**2)
          end)
        end

        # A Profile::Entry for each shape. unlocked: the share of the CPU time without the GVL. warmth: a factor for the
        # CPU times.
        def entries(unlocked: 0.0, warmth: 1.0)
          @shapes.values.map do |shape|
            times = waiting(shape)
            wait = times.sum.zero? ? [0.0] : Samples.quantiles(times)
            correlation = Samples.correlation(shape.cpu, times).round(3)
            cpu = Samples.quantiles(shape.cpu).map { |seconds| (seconds * warmth).round(9) }
            Profile::Entry.new(name: shape.name, weight: shape.weight, cpu: cpu, wait: wait, waits: waits(shape),
                               unlocked: unlocked, correlation: correlation, samples: shape.count)
          end
        end

        def to_s
          times = %i[cpu wait].map { |kind| format("%.3f ms (+- %.3f)", mean(kind) * 1000, 2000 * error(kind)) }
          waits = @shapes.values.sum { |shape| shape.weight / @total * waits(shape).to_f }
          format("%d requests one after the other: %s of CPU time, %s of waiting in %.1f waits", count, *times, waits)
        end

        # The average number of waits of that shape's requests; nil if unknown. The thread also stops once to wait for
        # the next request, which does not count.
        def waits(shape)
          chance?(shape) ? 0.0 : mean_waits(shape)&.round(4)
        end

        private

        def mean_waits(shape)
          known = shape.switches.compact
          known.sum.fdiv(known.length) - 1 unless known.empty?
        end

        # How long each request waited.
        def waiting(shape)
          chance?(shape) ? [0.0] * shape.count : seen(shape)
        end

        def chance?(shape)
          few?(shape) && seen(shape).sum < FEW_WAITS * shape.cpu.sum
        end

        # Time that a request lost to other programs looks like waiting. If requests seldom wait, it is left out for
        # those whose thread never did.
        def seen(shape)
          return shape.wait unless few?(shape)

          shape.wait.zip(shape.switches).map { |wait, switches| switches.to_f > 1 ? wait : 0.0 }
        end

        def few?(shape)
          mean_waits(shape)&.< FEW_WAITS
        end

        class << self
          def mean(values)
            values.empty? ? 0.0 : values.sum / values.length
          end

          def variance(values)
            return 0.0 if values.length < 2

            mean = mean(values)
            values.sum { |value| (value - mean)**2 } / (values.length - 1)
          end

          # At most QUANTILES numbers in ascending order. Each is the mean of an equal part of the sorted values, so the
          # numbers have the mean of the values.
          def quantiles(values)
            sorted = values.sort
            number = [sorted.length, QUANTILES].min
            Array.new(number) { |index| part(sorted, index.fdiv(number), (index + 1).fdiv(number)).round(9) }
          end

          # The rank correlation, -1 to 1; 0 if one of them is constant.
          def correlation(ones, others)
            ones, others = ranks(ones), ranks(others)
            spread = Math.sqrt(variance(ones) * variance(others))
            return 0.0 unless spread.positive?

            middle, other_middle = mean(ones), mean(others)
            ones.zip(others).sum { |one, other| (one - middle) * (other - other_middle) } / (ones.length - 1) / spread
          end

          private

          # The mean of the sorted values between two shares of them. A value at the edge counts in part.
          def part(sorted, from, upto)
            from, upto = from * sorted.length, upto * sorted.length
            sum = (from.floor...[upto.ceil, sorted.length].min).sum do |index|
              sorted[index] * ([index + 1, upto].min - [index, from].max)
            end
            sum / (upto - from)
          end

          # Equal values share the mean of their ranks.
          def ranks(values)
            first = 0
            by_value = values.tally.sort.to_h do |value, count|
              rank = first + (count - 1) / 2.0
              first += count
              [value, rank]
            end
            values.map { |value| by_value[value] }
          end
        end
      end
    end
  end
end

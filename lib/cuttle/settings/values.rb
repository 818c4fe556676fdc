# frozen_string_literal: true

module Cuttle
  class Settings
    # Turns what was said (Strings from outside, Ruby values from a program) into an option's one form.
    # Raises UsageError, which names the flag or variable that said it.
    module Values
      ON_OFF = { true => true, false => false, "on" => true, "off" => false, "true" => true, "false" => false }.freeze

      class << self
        # Each value of +said+ in its final form; the block gives the name to blame for an option's value.
        def coerce(said)
          said.to_h do |option, value|
            [option, send(KINDS.fetch(option, :itself_or_text), value)]
          rescue ArgumentError => error
            raise UsageError, "#{yield option} #{Array(value).join(" ")}: #{error.message}"
          end
        end

        # How the command line writes +option+.
        def flag(option)
          option == :binds ? "--bind" : "--#{option.to_s.tr("_", "-")}"
        end

        private

        def workers(value)
          return Cluster::Cpus.count if value.to_s == "auto"

          whole(value, 0..1024, "a number of processes, or auto")
        end

        # "N", "MIN:MAX", an Integer or a Range. Puma's "0:N" keeps no thread at rest; ours keeps one.
        def threads(value)
          form = "a number of threads, MIN:MAX, or 0 for a thread per connection"
          min, max = value.is_a?(Range) ? [value.min, value.max] : value.to_s.split(":", 2)
          min = whole(min, 0..10_000, form)
          max = max.nil? ? min : whole(max, 0..10_000, form)
          raise ArgumentError, "the minimum is above the maximum" if min > max

          max.zero? ? 0..0 : [min, 1].max..max
        end

        def port(value)
          whole(value, 0..65_535, "a port from 0 to 65535")
        end

        def max_fibers(value)
          whole(value, 1..1_000_000, "a number of fibers above 0")
        end

        def binds(value)
          Array(value).map { |uri| Listeners.check(uri) }.tap do |uris|
            raise ArgumentError, "give at least one URI" if uris.empty?
          end
        end

        def timeout(value)
          seconds(value).tap { |time| raise ArgumentError, "give seconds above 0" unless time.positive? }
        end

        # 0 is allowed where waiting for nothing has a meaning.
        def seconds(value)
          time = Float(value, exception: false)
          raise ArgumentError, "give seconds" unless time&.finite? && !time.negative?

          time == time.to_i ? time.to_i : time
        end

        def on_off(value)
          ON_OFF.fetch(value) { raise ArgumentError, "on or off" }
        end

        def whole(value, range, form)
          number = Integer(value.to_s, 10, exception: false)
          raise ArgumentError, "give #{form}" unless number && range.cover?(number)

          number
        end

        # Engines and servers may come as Symbols, paths as Pathname.
        def itself_or_text(value)
          value.to_s.dup.freeze
        end
      end

      KINDS = {
        workers: :workers, threads: :threads, port: :port, max_fibers: :max_fibers, binds: :binds,
        request_timeout: :timeout, idle_timeout: :timeout, write_timeout: :timeout, shutdown_timeout: :seconds,
        keep_alive: :on_off, log_requests: :on_off, quiet: :on_off, debug: :on_off
      }.freeze
    end
  end
end

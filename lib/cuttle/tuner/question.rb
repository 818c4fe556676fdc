# frozen_string_literal: true

module Cuttle
  module Tuner
    # A question for a profile: "workers=4,threads=3,cores=4" asks how a setting performs under some circumstances. It
    # needs no measurement. Frozen.
    #
    #   engine, workers, threads    the setting; what is not given comes from the base. threads may be auto
    #   cores                       CPU cores that the server may use
    #   rate, connections           the demand: an open or a closed loop
    #   wait, cpu                   the factor by which requests wait or compute longer: wait=2x
    class Question
      WHOLE = %w[workers threads cores connections].freeze
      FACTORS = %w[wait cpu].freeze
      WORDS = { "threads" => Setting::AUTO }.freeze # in place of a number
      KEYS = ["engine", *WHOLE, "rate", *FACTORS].freeze
      # With larger numbers a forecast would take minutes, or be none.
      MOST = { "cores" => Limits::CORES, "connections" => Lab::Options::MOST[:concurrency],
               **FACTORS.to_h { |key| [key, 1000] } }.freeze

      attr_reader :text, :setting, :cores, :wait, :cpu

      # base: the Setting to start from. Raises UsageError.
      def initialize(text, base:)
        @text = text
        @given = text.split(",").map(&:strip).reject(&:empty?).to_h { |part| pair(part) }
        raise UsageError, "--what-if: such as workers=4,threads=3,cores=4, not #{text.inspect}" if @given.empty?
        raise UsageError, "--what-if: rate or connections, not both" if %w[rate connections].all? { |key| @given[key] }

        @cores = @given["cores"]
        @wait, @cpu = FACTORS.map { |key| @given.fetch(key, 1) }
        @setting = changed(base)
        freeze
      end

      # The question's own demand, or +otherwise+.
      def demand(otherwise)
        return Demand.open(@given["rate"]) if @given["rate"]

        @given["connections"] ? Demand.closed(@given["connections"]) : otherwise
      end

      # The profile, changed to the question's circumstances.
      def profile(profile)
        Circumstances.profile(profile, wait: wait, cpu: cpu)
      end

      # The circumstances, in words: "hybrid -w 4 -t 3, 4 cores, waits 2x".
      def name
        [setting.name, (Load::Units.plural(cores, "core") if cores), ("waiting #{format("%g", wait)}x" if wait != 1),
         ("computing #{format("%g", cpu)}x" if cpu != 1)].compact.join(", ")
      end

      private

      def pair(part)
        key, value = part.split("=", 2).map(&:strip)
        raise UsageError, "--what-if: no #{key.inspect} (#{KEYS.join(", ")})" unless KEYS.include?(key)
        raise UsageError, "--what-if: #{key}=…" if value.nil? || value.empty?

        [key, read(key, value)]
      end

      def read(key, value)
        return value if key == "engine" || WORDS[key] == value
        return Load::Units.rate(value, "--what-if: rate").tap { |rate| check(key, rate) } if key == "rate"

        number = WHOLE.include?(key) ? Integer(value, 10, exception: false) : Float(value.delete("x"), exception: false)
        raise UsageError, "--what-if: #{key}: a number, not #{value.inspect}" unless number

        check(key, number) unless key == "workers"
        number
      end

      # The Setting checks workers and threads.
      def check(key, number)
        raise UsageError, "--what-if: #{key}: above 0" unless number.positive? && number.finite?
        raise UsageError, "--what-if: #{key}: at most #{MOST[key]}" if MOST.key?(key) && number > MOST[key]
      end

      def changed(base)
        named = @given.slice("engine", "workers", "threads").transform_keys(&:to_sym)
        Setting.new(**base.to_h, **named)
      end
    end
  end
end

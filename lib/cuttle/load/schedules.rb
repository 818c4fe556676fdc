# frozen_string_literal: true

module Cuttle
  module Load
    # Arrival schedules: the intended times of requests. Each has a description (to_s), its length in seconds (nil: no
    # end), the number of arrivals until a time, and its shape for the native half (schedule.h).
    #
    #   closed     no schedule: a connection's next request follows its last response
    #   constant   --rate 1000           evenly spaced
    #   steps      --steps 100,200:10s   a constant rate for 10 s, then the next
    #   ramp       --ramp 0..1000:60s    a rate that grows (or falls) evenly
    #   trace      --trace FILE          the times in a file
    #
    # poisson: true makes arrivals at any rate random, like those of many independent users.
    module Schedules
      autoload :Closed, "cuttle/load/schedules/closed"
      autoload :Pieces, "cuttle/load/schedules/pieces"
      autoload :Trace, "cuttle/load/schedules/trace"

      LONGEST = 1_000_000 # seconds, of a trace

      module_function

      # Builds a schedule from a user's options: one of rate, steps, ramp, trace; without any of them, the closed loop.
      # Raises UsageError.
      def build(rate: nil, steps: nil, ramp: nil, trace: nil, poisson: false)
        given = { rate: rate, steps: steps, ramp: ramp, trace: trace }.compact
        raise UsageError, "only one of #{given.keys.map { |key| "--#{key}" }.join(", ")}" if given.length > 1
        raise UsageError, "--poisson needs --rate, --steps or --ramp" if poisson && (given.empty? || trace)
        return Closed.new if given.empty?
        return trace(trace) if trace

        kind, value = given.first
        Pieces.new(kind == :rate ? "constant" : kind.to_s, send("pieces_of_#{kind}", value), poisson: poisson)
      end

      # From to_h.
      def load(hash)
        case hash["name"]
        when "closed" then Closed.new
        when "trace" then Trace.new(hash["times"])
        else Pieces.new(hash["name"], hash["pieces"], poisson: hash["poisson"])
        end
      end

      def pieces_of_rate(rate)
        rate = rate.is_a?(Numeric) ? rate.to_f : Units.rate(rate, "--rate")
        raise UsageError, "--rate: above 0" unless rate.positive? && rate.finite?

        [[nil, rate, rate]]
      end

      # "100,200,400:10s", or [[100, 200, 400], 10]
      def pieces_of_steps(steps)
        rates, seconds = steps.is_a?(Array) ? steps : split_steps(steps)
        raise UsageError, "--steps: rates above 0" unless rates.any? && rates.all?(&:positive?)

        seconds = length_of(seconds, "--steps")
        rates.map { |rate| [seconds, rate.to_f, rate.to_f] }
      end

      def split_steps(text)
        rates, seconds = text.split(":", 2)
        raise UsageError, "--steps: RATE,RATE,…:SECONDS such as 100,200,400:10s, not #{text.inspect}" unless seconds

        [rates.split(",").map { |rate| Units.rate(rate, "--steps") }, Units.seconds(seconds, "--steps")]
      end

      # "0..1000:60s", or [0, 1000, 60]
      def pieces_of_ramp(ramp)
        from, to, seconds = ramp.is_a?(Array) ? ramp : split_ramp(ramp)
        raise UsageError, "--ramp: from one rate to another, not both 0" unless (from + to).positive?

        [[length_of(seconds, "--ramp"), from.to_f, to.to_f]]
      end

      def split_ramp(text)
        match = /\A(.+)\.\.(.+?):(.+)\z/.match(text) or
          raise UsageError, "--ramp: FROM..TO:SECONDS such as 0..1000:60s, not #{text.inspect}"
        [Units.rate(match[1], "--ramp"), Units.rate(match[2], "--ramp"), Units.seconds(match[3], "--ramp")]
      end

      def length_of(seconds, what)
        raise UsageError, "#{what}: a time above 0" unless seconds.positive?

        seconds.to_f
      end

      # A file of times (a line each, in seconds; # begins a comment), or an Array.
      def trace(trace)
        times = trace.is_a?(Array) ? trace.map(&:to_f) : read_trace(trace)
        raise UsageError, "--trace: the file has no times" if times.empty?

        wrong = times.find { |time| !time.between?(0, LONGEST) }
        raise UsageError, "--trace: seconds after the beginning of the run, 0 to #{LONGEST}, not #{wrong}" if wrong

        Trace.new(times.sort)
      end

      def read_trace(path)
        File.foreach(path, mode: "rb").with_index(1).filter_map do |line, number|
          text = line.sub(/#.*/, "").strip
          next if text.empty?

          Float(text, exception: false) or
            raise UsageError, "--trace: #{path}:#{number}: a time in seconds, not #{text.inspect}"
        end
      rescue SystemCallError => error
        raise UsageError, "--trace: #{path}: #{Load.reason(error)}"
      end
    end
  end
end

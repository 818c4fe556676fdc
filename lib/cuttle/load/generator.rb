# frozen_string_literal: true

module Cuttle
  module Load
    # One run in this process: starts the native threads, collects their windows and makes the Result. It runs on the
    # calling thread, which sleeps without the GVL.
    class Generator
      TICK = 0.1 # seconds between two reads of the windows
      HOPELESS = %i[connect malformed local].freeze # errors that no HTTP server causes
      TRIES = 10 # answers per connection that are not HTTP, after which no other answer is expected

      # The run is not what was asked for. result: what there is of it.
      class Incomplete < Failure
        attr_reader :result

        def initialize(message, result)
          super(message)
          @result = result
        end
      end

      attr_reader :plan

      # Raises UsageError if this machine can't run the plan.
      def initialize(plan)
        plan.check_machine
        @plan = plan
        @interrupted = @given_up = false
        @pending = Array.new(plan.threads) { [] }
        @windows = []
      end

      # Runs to the end and returns the Result. on_window: called with each Window. on_tick: called ten times a second,
      # with the seconds since the start and Run#live's numbers. Raises Failure: Incomplete if the server can't be
      # measured.
      def run(on_window: nil, on_tick: nil)
        start
        until @core.wait(TICK)
          collect(on_window)
          give_up if hopeless?
          on_tick&.call(Cuttle.now - @started, @core.live)
        end
        finish(on_window)
      ensure
        @core&.close
      end

      # Prepares a run that starts together with others: after this, #run begins immediately.
      def prepare
        @address ||= plan.target.address
        @core ||= make_core
        self
      end

      # Ends the run with the results so far. May be called from a trap handler and from any thread.
      def interrupt
        @interrupted = true
        @core&.stop
      end

      private

      def make_core
        Run.new(plan.to_core(@address))
      rescue ArgumentError => error
        raise Failure, error.message
      end

      def start
        prepare
        @started_at = Time.now
        @started = Cuttle.now
        @core.start
        @core.stop if @interrupted
      rescue SystemCallError => error
        raise Failure, "the load can't be started: #{Load.reason(error)}"
      end

      def finish(on_window)
        collect(on_window)
        rest.each { |parts| add(parts, on_window) }
        figures = Array.new(plan.threads) { |thread| explain(@core.figures(thread)) }
        result = Result.build(plan: plan, started_at: @started_at, interrupted: @interrupted || @given_up,
                              windows: @windows, figures: figures)
        refuse(result, figures)
        result
      end

      # --- windows ---

      def collect(on_window)
        @pending.each_with_index { |windows, thread| windows.concat(@core.windows(thread)) }
        add(@pending.map(&:shift), on_window) while told?
      end

      # Whether every thread has reported its next second.
      def told?
        @pending.all? { |windows| windows.any? && !windows.first[:draining] }
      end

      # The remaining windows of threads that ended at different times: seconds first, then the windows after the end.
      def rest
        draining, seconds = @pending.map { |windows| windows.partition { |window| window[:draining] } }.transpose
        longest = seconds.map(&:length).max
        groups = Array.new(longest) { |index| seconds.filter_map { |windows| windows[index] } }
        groups << draining.flatten.reject { |window| nothing_in?(window) }
        groups.reject(&:empty?)
      end

      def nothing_in?(window)
        window[:latency][:count].zero? && window[:errors].values.sum.zero?
      end

      def add(parts, on_window)
        window = Window.merge(parts)
        @windows << window
        on_window&.call(window)
      end

      # --- when there is nothing to measure ---

      # Whether a second has passed, everything so far failed as if no HTTP server were there, and no request may still
      # be answered.
      def hopeless?
        _, responses, _, _, in_flight = @core.live
        return false if responses.positive? || @windows.empty?

        errors = @windows.map(&:errors)
        hopeless = errors.sum { |each| each.values_at(*HOPELESS).sum }
        return false if hopeless.zero? || hopeless < errors.sum { |each| each.values.sum }

        in_flight.zero? || errors.sum { |each| each[:malformed] } >= TRIES * plan.connections
      end

      def give_up
        @given_up = true
        @core.stop
      end

      def refuse(result, figures)
        return if @interrupted || (result.responses.positive? && !@given_up)

        reason = refusal(result, figures) or return
        raise Incomplete.new("#{plan.target}: #{reason}", result)
      end

      # What kept the server from being measured, if it is the most frequent error.
      def refusal(result, figures)
        case result.errors.select { |_, count| count.positive? }.max_by(&:last)&.first
        when :malformed
          sample = figures.map { |each| each[:sample] }.find { |octets| !octets.empty? }
          "the answer is not HTTP: it begins with #{sample.to_s[0, 32].inspect}"
        when :connect
          result.connect_error || "no connection could be made"
        when :local
          "this machine can't open a connection: #{result.local_error}"
        end
      end

      # A thread's figures, with the reasons of its first failed connections as text.
      def explain(figures)
        tls, errno, local = figures.values_at(:tls_error, :connect_error, :local_error)
        figures.merge(connect_error: tls.empty? ? reason(errno) : "TLS: #{tls}", local_error: reason(local))
      end

      def reason(errno)
        Load.reason(SystemCallError.new(nil, errno)) if errno.positive?
      end
    end
  end
end

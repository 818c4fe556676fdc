# frozen_string_literal: true

module Cuttle
  module Load
    # One run in this process: starts the native threads, collects their windows and makes the Result. It runs on the
    # calling thread, which sleeps without the GVL.
    class Generator
      TICK = 0.1 # seconds between two reads of the windows

      # The run is not what was asked for. result: what there is of it.
      class Incomplete < Failure
        attr_reader :result

        def initialize(message, result)
          super(message)
          @result = result
        end
      end

      attr_reader :plan

      def initialize(plan)
        @plan = plan
        @interrupted = false
        @pending = Array.new(plan.threads) { [] }
        @windows = []
      end

      # Runs to the end and returns the Result. on_window: called with each Window. on_tick: called ten times a second,
      # with the seconds since the start and Run#live's numbers. Raises Failure.
      def run(on_window: nil, on_tick: nil)
        start
        until @core.wait(TICK)
          collect(on_window)
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
        result = Result.build(plan: plan, started_at: @started_at, interrupted: @interrupted, windows: @windows,
                              figures: figures)
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
        hopeless if @windows.length == 1
        on_window&.call(window)
      end

      # --- when there is nothing to measure ---

      # A server that has not answered in HTTP within a second will not.
      def hopeless
        window = @windows.first
        @core.stop if window.responses.zero? && window.errors.values_at(:malformed, :connect).sum.positive?
      end

      def refuse(result, figures)
        return if result.responses.positive? || @interrupted

        reason = refusal(result, figures) or return
        raise Failure, "#{plan.target}: #{reason}"
      end

      def refusal(result, figures)
        if result.errors[:malformed].positive?
          sample = figures.map { |each| each[:sample] }.find { |octets| !octets.empty? }
          "the answer is not HTTP: it begins with #{sample.to_s[0, 32].inspect}"
        elsif result.errors[:connect].positive?
          result.connect_error || "no connection could be made"
        end
      end

      # A thread's figures, with the reason of its first failed connection as text, if there was one.
      def explain(figures)
        tls, errno = figures.values_at(:tls_error, :connect_error)
        reason = if !tls.empty? then "TLS: #{tls}"
                 elsif errno.positive? then Load.reason(SystemCallError.new(nil, errno))
                 end
        figures.merge(connect_error: reason)
      end
    end
  end
end

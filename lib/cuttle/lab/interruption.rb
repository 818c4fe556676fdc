# frozen_string_literal: true

module Cuttle
  module Lab
    # Ctrl-C during a lab: the first one ends the run that is under way, and then the lab, in order: servers are
    # stopped, what was measured is told. A second one doesn't wait for that order.
    class Interruption
      SIGNALS = %w[INT TERM].freeze

      def initialize
        @asked = false
        @generator = nil
      end

      def asked?
        @asked
      end

      # Runs +generator+, which the signal interrupts, and returns its result.
      def watch(generator)
        @generator = generator
        generator.interrupt if asked?
        generator.run
      ensure
        @generator = nil
      end

      # The block's value; signals are ours meanwhile.
      def during
        previous = SIGNALS.to_h { |signal| [signal, trap(signal) { ask }] }
        yield
      ensure
        previous&.each { |signal, handler| trap(signal, handler || "DEFAULT") }
      end

      # From a trap handler. Raises Interrupt in the main thread the second time.
      def ask
        Thread.main.raise(Interrupt) if @asked
        @asked = true
        @generator&.interrupt
      end
    end
  end
end

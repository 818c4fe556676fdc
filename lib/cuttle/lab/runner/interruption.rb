# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Handles Ctrl-C during a lab. The first one ends the current run, stops the servers in order and reports the
      # results so far. The second one ends the lab immediately.
      class Interruption
        SIGNALS = %w[INT TERM].freeze
        SAID = "interrupted: the lab stops its servers and reports what it has; Ctrl-C again ends it at once"

        # out: receives a line at the first signal; or nil.
        def initialize(out = nil)
          @out = out
          @asked = false
          @generator = nil
        end

        def asked?
          @asked
        end

        # Runs +generator+ so that a signal interrupts it. Returns its result.
        def watch(generator)
          @generator = generator
          generator.interrupt if asked?
          generator.run
        ensure
          @generator = nil
        end

        # Runs the block with these signal handlers and returns its value.
        def during
          previous = SIGNALS.to_h { |signal| [signal, trap(signal) { ask }] }
          yield
        ensure
          previous&.each { |signal, handler| trap(signal, handler || "DEFAULT") }
        end

        # Called by the trap handler. The second call raises Interrupt in the main thread.
        def ask
          Thread.main.raise(Interrupt) if @asked
          @asked = true
          @generator&.interrupt
          @out&.puts(@out.tty? ? "\n#{SAID}" : SAID) # the terminal's line shows the progress
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Signals
    # The signals that come before a server has its Signals, in a program that was executed in the place of another one
    # (Restart): there are clients, and perhaps workers, so these signals must not end it at once.
    #
    #   #note --> noted --Signals.new--> handlers
    module Early
      # (A HUP that is ignored must stay ignored.)
      NAMES = (STOP - %w[HUP]).freeze

      @noted = []
      @before = {}.compare_by_identity

      class << self
        # From now on notes the signals that come. A second INT ends the process. +stopped+: the former program had been
        # told to stop.
        def note(stopped:)
          @noted = %w[TERM] if stopped
          owner = Process.pid
          NAMES.each do |name|
            handler = proc { Process.pid == owner ? noted(name) : exit!(0) }
            @before[handler] = trap(name, handler)
          end
        end

        # For the first Signals, which have their handlers already: puts the handlers before #note in the place of its
        # own in +previous+, a Hash by the names of signals. Returns the names of the signals that have come.
        def hand_over(previous)
          previous.transform_values! { |handler| @before.fetch(handler, handler) }
          @noted.tap { @noted = [] }
        end

        private

        def noted(name)
          exit!(130) if name == "INT" && @noted.include?(name)
          @noted |= [name]
        end
      end
    end
  end
end

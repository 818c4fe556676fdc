# frozen_string_literal: true

module Cuttle
  module Lab
    module Services
      # A slow HTTP service on a port of 127.0.0.1: it answers each GET after +delay_ms+, or after what the request's
      # own delay_ms says, and meanwhile takes any number of others.
      class Upstream < Daemon
        PROGRAM = "#{__dir__}/upstream_program.rb"

        def self.unavailable
          nil
        end

        # Raises Lab::Failure.
        def self.start(delay_ms: 50, cores: nil)
          new(Child.start(PROGRAM, delay_ms, cores: cores))
        end

        def url
          "http://127.0.0.1:#{port}/"
        end

        # For the work app.
        def environment
          { "WORK_UPSTREAM" => url }
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Load
    module Schedules
      # The intended times of requests, in seconds from the beginning, ascending.
      class Trace
        attr_reader :times

        def initialize(times)
          @times = times.freeze
          freeze
        end

        def name
          "trace"
        end

        def open?
          true
        end

        def steady?
          false
        end

        def poisson
          false
        end

        # Slightly more than the last arrival, so that it is included.
        def length
          times.last + 0.001
        end

        def offered(time)
          times.bsearch_index { |at| at >= time } || times.length
        end

        def warm
          Pieces.new("constant", [])
        end

        def shape
          { segments: [], times: times, poisson: false }
        end

        def to_h
          { "name" => name, "times" => times }
        end

        def to_s
          "trace of #{Units.count(times.length)} arrivals in #{Units.duration(length)}"
        end
      end
    end
  end
end

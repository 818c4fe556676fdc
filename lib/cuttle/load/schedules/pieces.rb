# frozen_string_literal: true

module Cuttle
  module Load
    module Schedules
      # Rates over time, as linear pieces: [seconds or nil, rate at its beginning, rate at its end].
      class Pieces
        attr_reader :name, :pieces, :poisson

        def initialize(name, pieces, poisson: false)
          @name = name
          @pieces = pieces.freeze
          @poisson = poisson
          freeze
        end

        def open?
          true
        end

        # Whether the rate is constant.
        def steady?
          pieces.length == 1 && pieces[0][1] == pieces[0][2]
        end

        # In seconds, or nil if only --duration or --requests ends it.
        def length
          pieces.sum(&:first) unless pieces.any? { |seconds,| seconds.nil? }
        end

        # The number of arrivals expected until +time+ seconds after the beginning.
        def offered(time)
          pieces.reduce(0.0) do |sum, (seconds, from, to)|
            spent = [seconds || time, time].min
            time -= spent
            slope = seconds ? (to - from) / seconds : 0
            sum + from * spent + slope * spent * spent / 2
          end
        end

        # The rate of the warm-up: the rate at the beginning of the schedule.
        def warm
          Pieces.new("constant", [[nil, pieces.first[1], pieces.first[1]]], poisson: poisson)
        end

        def shape
          { segments: pieces, times: nil, poisson: poisson }
        end

        def to_h
          { "name" => name, "pieces" => pieces, "poisson" => poisson }
        end

        def to_s
          "#{"Poisson, " if poisson}#{describe}"
        end

        private

        def describe
          rates = pieces.flat_map { |_, from, to| [from, to] }.chunk_while { |one, other| one == other }
          rates = rates.map { |same| number(same.first) }
          case name
          when "constant" then "#{rates.first}/s"
          when "ramp" then "#{rates.first} to #{rates.last}/s in #{Units.duration(pieces[0][0])}"
          else "#{pieces.map { |_, from,| number(from) }.join(", ")}/s for #{Units.duration(pieces[0][0])} each"
          end
        end

        # A rate may be below 1.
        def number(rate)
          rate == rate.round ? Units.count(rate) : format("%g", rate)
        end
      end
    end
  end
end

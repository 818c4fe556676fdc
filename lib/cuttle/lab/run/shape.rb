# frozen_string_literal: true

module Cuttle
  module Lab
    class Run
      # Whether a JSON object is a run: what is read from a damaged file must not be taken for a measurement, nor break
      # what is made of it.
      module Shape
        NUMBERS = %w[boot rate responses sent elapsed load_cpu lost].freeze
        OF_NUMBERS = %w[errors ms].freeze
        OF_OBJECTS = %w[marks warnings windows proof].freeze
        SERVER = %w[cpu_us switches pss_total].freeze

        module_function

        # Why +hash+ is no run, or nil.
        def damage(hash)
          return "without configuration, load and block" unless identified?(hash)
          return "says neither valid nor invalid" unless [true, false].include?(hash["valid"])
          return "without a rate" if hash["valid"] && hash["rate"].nil?

          wrong = wrong(hash)
          wrong && "with a damaged #{wrong}"
        end

        def identified?(hash)
          hash["configuration"].is_a?(String) && hash["load"].is_a?(String) && hash["block"].is_a?(Integer)
        end

        # The first key whose value is of the wrong kind; none need be there.
        def wrong(hash)
          NUMBERS.find { |key| !number?(hash[key]) } ||
            OF_NUMBERS.find { |key| !numbers?(hash[key]) } ||
            OF_OBJECTS.find { |key| !all?(hash[key], Hash) } ||
            { "reasons" => all?(hash["reasons"], String), "server" => server?(hash["server"]),
              "histogram" => histogram?(hash["histogram"]) }.key(false)
        end

        def number?(value)
          value.nil? || (value.is_a?(Numeric) && value.finite?)
        end

        def numbers?(value)
          value.nil? || (value.is_a?(Hash) && value.values.all? { |each| number?(each) })
        end

        def all?(value, kind)
          value.nil? || (value.is_a?(Array) && value.all?(kind))
        end

        def server?(value)
          value.nil? || (value.is_a?(Hash) && all?(value["pss"], Numeric) &&
                         SERVER.all? { |key| number?(value[key]) })
        end

        def histogram?(value)
          value.nil? || !Load::Histograms.load(value).nil?
        rescue NoMethodError, TypeError, ArgumentError, RangeError
          false
        end
      end
    end
  end
end

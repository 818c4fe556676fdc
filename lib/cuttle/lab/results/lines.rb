# frozen_string_literal: true

require "json"

module Cuttle
  module Lab
    class Results
      # The lines of a results file: the header, and every other line that can be read.
      class Lines
        # Raises Failure if there is no valid header, and any error of File.
        def self.read(path)
          lines = new(path)
          File.foreach(path, mode: "rb").with_index(1) { |line, number| lines.add(line, number) }
          raise Failure, "#{path}: empty" unless lines.header

          lines
        end

        # header: a Hash. records: a Hash for each other line. damages: Damage each.
        attr_reader :header, :records, :damages

        def initialize(path)
          @path = path
          @records = []
          @damages = []
          @numbers = {}.compare_by_identity
        end

        def add(line, number)
          hash = parse(line)
          return begin_with(hash) if number == 1

          hash["type"].is_a?(String) or raise JSON::ParserError
          @numbers[hash] = number
          records << hash
        rescue JSON::ParserError
          raise Failure, "#{@path}, line 1: not a header of a lab, so the rest can't be read" if number == 1

          damages << Damage.new(number, line.end_with?("\n") ? "no JSON object with a type" : "torn")
        end

        # Records that +hash+, one of records, is not valid.
        def damaged(hash, reason)
          damages << Damage.new(@numbers.fetch(hash), reason)
        end

        private

        def parse(line)
          text = line.dup.force_encoding(Encoding::UTF_8)
          raise JSON::ParserError, "no UTF-8" unless text.valid_encoding?

          hash = JSON.parse(text, freeze: true)
          hash.is_a?(Hash) ? hash : raise(JSON::ParserError)
        end

        def begin_with(hash)
          raise Failure, "#{@path}, line 1: not a lab's results (#{SCHEMA})" unless hash["schema"] == SCHEMA

          whole = %w[configurations loads].all? do |key|
            hash[key].is_a?(Array) && hash[key].all? { |each| each.is_a?(Hash) && each["id"].is_a?(String) }
          end
          raise Failure, "#{@path}, line 1: a header without configurations and loads" unless whole

          @header = hash
        end
      end

      # Checks that a JSON object is a run, so that a damaged line neither counts as a measurement nor breaks a report.
      module Shape
        NUMBERS = %w[boot rate responses sent elapsed load_cpu lost].freeze
        OF_NUMBERS = %w[errors ms].freeze
        OF_OBJECTS = %w[marks warnings windows proof].freeze
        SERVER = %w[cpu_us switches pss_total].freeze

        module_function

        # Why +hash+ is not a run, or nil.
        def damage(hash)
          return "without configuration, load and block" unless identified?(hash)
          return "whose valid is neither true nor false" unless [true, false].include?(hash["valid"])
          return "without a rate" if hash["valid"] && hash["rate"].nil?

          wrong = wrong(hash)
          wrong && "with a damaged #{wrong}"
        end

        def identified?(hash)
          hash["configuration"].is_a?(String) && hash["load"].is_a?(String) && hash["block"].is_a?(Integer)
        end

        # The first key whose value has the wrong type. Keys may be missing.
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

        # A new Histogram for each run would take most of the time.
        def histogram?(value)
          @scratch ||= Load::Histogram.new
          value.nil? || !Load::Histograms.fill(@scratch.clear, value).nil?
        rescue NoMethodError, TypeError, ArgumentError, RangeError
          false
        end
      end
    end
  end
end

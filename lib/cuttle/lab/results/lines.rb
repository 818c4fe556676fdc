# frozen_string_literal: true

require "json"

module Cuttle
  module Lab
    class Results
      # The lines of a results file: the first, the header, and the others as far as they can be read.
      class Lines
        # Raises Failure where the header is none, and what File raises.
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
          raise Failure, "#{@path}, line 1: no header of a lab, so the rest says nothing" if number == 1

          damages << Damage.new(number, line.end_with?("\n") ? "no JSON object with a type" : "torn")
        end

        # +hash+, one of records, turned out to say nothing.
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
    end
  end
end

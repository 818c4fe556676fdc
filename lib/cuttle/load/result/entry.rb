# frozen_string_literal: true

module Cuttle
  module Load
    class Result
      # The results of the requests with one name: of one or more entries of a mix. latency is a Histogram.
      Entry = Struct.new(:name, :responses, :errors, :latency) do
        # Merges the entries of several threads or generators.
        def self.sum(entries)
          errors = entries.map(&:errors).reduce { |one, other| one.merge(other) { |_, a, b| a + b } }
          new(entries.first.name, entries.sum(&:responses), errors, Histograms.sum(entries.map(&:latency)))
        end

        # Merges lists of the same names.
        def self.merge(lists)
          lists.flatten.group_by(&:name).values.map { |entries| sum(entries) }
        end

        # From to_h.
        def self.load(hash)
          new(hash.fetch("name"), hash.fetch("responses"), hash.fetch("errors").transform_keys(&:to_sym),
              Histograms.load(hash.fetch("latency")))
        end

        def failures
          errors.values.sum
        end

        # The number of right responses.
        def good
          Result.good(responses, errors)
        end

        def to_h
          { "name" => name, "responses" => responses, "good" => good, "errors" => errors.transform_keys(&:to_s),
            "latency" => Histograms.to_h(latency).transform_keys(&:to_s) }
        end
      end
    end
  end
end

# frozen_string_literal: true

require "uri"

module Cuttle
  module Studies
    # A request: a path, and the durations of the work app's steps, which a Scale shortens.
    TIMES = %i[cpu_ms iowait_ms lock_ms query_ms render_ms].freeze
    COMPUTING = %i[cpu_ms render_ms].freeze
    Request = Struct.new(:path, :times, :parameters, keyword_init: true) do
      # times: milliseconds, by the names of the work app or the album. Other keys are further parameters.
      def self.work(parameters, path: "/")
        times, others = parameters.partition { |name, _| TIMES.include?(name) }.map(&:to_h)
        new(path: path, times: times, parameters: others)
      end

      # Whether a Scale shortens it.
      def scaled?
        times.values.any?(&:positive?)
      end

      # The times in which it computes.
      def computing
        times.slice(*COMPUTING)
      end

      def target(scale)
        query = times.transform_values { |value| scale.time(value) }.merge(parameters)
        query.empty? ? path : "#{path}?#{URI.encode_www_form(query)}"
      end

      def to_s
        query = times.merge(parameters)
        query.empty? ? path : "#{path} (#{query.map { |name, value| "#{name} #{value}" }.join(", ")})"
      end
    end
  end
end

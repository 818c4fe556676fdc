# frozen_string_literal: true

module Cuttle
  module Load
    # The conditions of --assert for a result: "p99<50ms, errors=0, rate>1000".
    #
    #   METRIC OPERATOR VALUE, …      < <= > >= = !=
    #
    # Metrics: p50, p99.9 … (any percentile), min, mean, sd, max: times, of the response times, or of another histogram
    # with its name as a prefix (service.p99, lag.p99, connect.max, first_byte.p50, transfer.p50); rate (responses per
    # second), good_rate (responses without an error per second), responses, errors, and each class of error. The value
    # for errors may be a percentage of the requests (Result#arrivals).
    class Assertions
      OPERATORS = { "<=" => :<=, ">=" => :>=, "!=" => :!=, "==" => :==, "<" => :<, ">" => :>, "=" => :== }.freeze
      PATTERN = /\A\s*([a-z_0-9.]+)\s*(<=|>=|!=|==|<|>|=)\s*(\S.*?)\s*\z/
      TIMES = { "min" => :min, "mean" => :mean, "sd" => :deviation, "max" => :max }.freeze
      COUNTS = %w[rate good_rate responses errors].freeze

      # One condition. value: nanoseconds or a number; if share is true, a share of the requests.
      Assertion = Struct.new(:text, :metric, :operator, :value, :share)

      # Raises UsageError.
      def initialize(text)
        @assertions = text.split(",").reject { |part| part.strip.empty? }.map { |part| parse(part) }
        raise UsageError, "--assert: give at least one condition" if @assertions.empty?
      end

      # A line for each condition that does not hold for +result+.
      def failures(result)
        @assertions.filter_map { |assertion| failure(assertion, result) }
      end

      private

      def parse(part)
        metric, operator, value = PATTERN.match(part)&.captures
        raise UsageError, "--assert: METRIC OPERATOR VALUE such as p99<50ms, not #{part.strip.inspect}" unless metric

        kind = kind_of(metric) or
          raise UsageError, "--assert: no metric #{metric} (p50, p99 …, min, mean, sd, max, rate, good_rate, errors …)"
        share = kind == :error && value.end_with?("%")
        Assertion.new(part.strip, metric, OPERATORS.fetch(operator), number(value, kind, share), share)
      end

      def kind_of(metric)
        return :error if metric == "errors" || Result::ERRORS.include?(metric.to_sym)
        return :count if COUNTS.include?(metric)

        histogram, figure = split(metric)
        return unless histogram == :latency || Result::HISTOGRAMS.include?(histogram)

        :time if TIMES.key?(figure) || percentile(figure)
      end

      # "service.p99.9" -> [:service, "p99.9"]
      def split(metric)
        return [:latency, metric] if metric.match?(/\Ap\d/) || !metric.include?(".")

        name, figure = metric.split(".", 2)
        [name.to_sym, figure]
      end

      def percentile(figure)
        number = figure[/\Ap(\d+(\.\d+)?)\z/, 1] or return
        number.to_f if number.to_f.between?(0, 100)
      end

      def number(value, kind, share)
        return (Units.seconds(value, "--assert") * 1e9) if kind == :time
        return Units.rate(value, "--assert") unless share

        Float(value.delete_suffix("%"), exception: false)&.fdiv(100) or raise UsageError, "--assert: no share: #{value}"
      end

      def failure(assertion, result)
        actual = measure(assertion, result)
        return "#{assertion.text}: too few samples to decide" if actual.nil?
        return if actual.public_send(assertion.operator, assertion.value)

        "#{assertion.text}: it is #{say(assertion, actual)}"
      end

      def measure(assertion, result)
        metric = assertion.metric
        case kind_of(metric)
        when :error then errors(assertion, result)
        when :count then result.public_send(metric)
        else time(result, *split(metric))
        end
      end

      def errors(assertion, result)
        count = assertion.metric == "errors" ? result.failures : result.errors.fetch(assertion.metric.to_sym)
        return count unless assertion.share

        count.fdiv(result.arrivals) if result.arrivals.positive?
      end

      def time(result, name, figure)
        histogram = result.public_send(name)
        return if histogram.count.zero?
        return histogram.public_send(TIMES.fetch(figure)) if TIMES.key?(figure)

        percentile(figure) == 100 ? histogram.max : result.percentile(percentile(figure), histogram)
      end

      def say(assertion, actual)
        return "#{format("%.3f", actual * 100)}%" if assertion.share
        return Units.time(actual) if kind_of(assertion.metric) == :time

        actual.is_a?(Float) ? Units.count(actual, 1) : Units.count(actual)
      end
    end
  end
end

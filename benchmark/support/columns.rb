# frozen_string_literal: true

module Bench
  # The columns that a table may have: the heading of each, and how its value is computed from Results for a subject and
  # the subject that it is compared with.
  module Columns
    # way: the value to show: nil (the median), :ratio (to the base's, the median), :quartiles (the median with its
    # quartiles) or :interval (the ratio to the base's with its 95% interval).
    Column = Struct.new(:heading, :figure, :scale, :digits, :way) do
      # The cell's text, or "" without a value.
      def text(results, name, base)
        value, *range = values(results, name, base)
        return "" unless value

        return number(value) if range.empty? || range.none?

        "#{number(value)} [#{range.map { |bound| number(bound) }.join(" ")}]"
      end

      private

      # [value], or [value, low, high].
      def values(results, name, base)
        case way
        when :ratio then [results.ratio(name, base, figure)]
        when :quartiles then results.quartiles(name, figure)&.values_at(1, 0, 2)
        when :interval then results.interval(name, base, figure)&.to_a&.first(3)
        else [results.median(name, figure)]
        end
      end

      def number(value)
        Cuttle::Report::Units.count(value * scale, digits)
      end
    end

    # Figure => its heading, the factor of the shown value, and digits.
    FIGURES = {
      "rate" => ["requests/s", 1, 0], "byte_rate" => ["MB/s", 1e-6, 0], "cpu" => ["CPU us/request", 1, 2],
      "p50" => ["p50 ms", 1, 2], "p95" => ["p95 ms", 1, 2], "p99" => ["p99 ms", 1, 2], "p95_p50" => ["p95/p50", 1, 2],
      "switches" => ["switches/request", 1, 2], "server_cpu" => ["server %", 100, 0], "load_cpu" => ["load %", 100, 0],
      "pss" => ["PSS MB", 1, 1],
      "idle" => ["idle held", 1, 0], "idle_bytes" => ["bytes/idle", 1, 0],
      "idle_rate" => ["requests/s with idle", 1, 0], "idle_rate_ratio" => ["times without", 1, 2],
      "fresh_p99" => ["p99 ms before any", 1, 2], "burst_p99_ratio" => ["times before any", 1, 2],
      "idle_p99" => ["p99 ms with idle", 1, 2], "idle_p99_ratio" => ["times without", 1, 2],
      "threads" => ["threads", 1, 0],
      "slow_rate" => ["requests/s with slow", 1, 0], "slow_p99" => ["p99 ms with slow", 1, 2],
      "arrival_rate_ratio" => ["while they come", 1, 2], "arrival_p99" => ["p99 ms then", 1, 2],
      "slow_held" => ["slow held", 1, 0], "slow_closed" => ["slow closed", 1, 0],
      "slow_cpu" => ["CPU us/request with slow", 1, 2], "slow_alone" => ["server % with slow alone", 100, 1],
      "slow_growth" => ["MB more with slow", 1, 1], "available" => ["available %", 100, 0],
      "offered" => ["offered/s", 1, 0], "goodput" => ["right/s", 1, 0], "goodput_share" => ["of capacity", 1, 2],
      "shed" => ["503 %", 100, 0], "accepted_p50" => ["p50 ms of right", 1, 0],
      "accepted_p99" => ["p99 ms of right", 1, 0], "shed_p99" => ["p99 ms of 503", 1, 1],
      "growth" => ["MB grown", 1, 1],
      "wait_cpu" => ["CPU us/wait", 1, 2], "busiest" => ["busiest %", 100, 0]
    }.freeze
    WAYS = { "ratio" => "times base", "interval" => "times base [95%]",
             "quartiles" => "times without [quartiles]" }.freeze

    # The Column with that name: a figure, or a figure with a way, such as "rate_interval".
    def self.fetch(name)
      heading, *form = FIGURES[name]
      return Column.new(heading, name, *form) if heading

      figure, _, way = name.rpartition("_")
      Column.new(WAYS.fetch(way), figure, 1, 2, way.to_sym)
    end
  end
end

# frozen_string_literal: true

module Bench
  # The columns a table may have: how each is headed, and how it is told from Results for a subject and the one it is
  # compared with.
  module Columns
    # way: what is shown: nil (the median), :ratio (to the base's, the median), :quartiles (the median with its
    # quartiles) or :interval (the ratio to the base's with its 95% interval).
    Column = Struct.new(:heading, :figure, :scale, :digits, :way) do
      # The cell's text, or "" where there is nothing to tell.
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

    ALL = {
      "rate" => ["requests/s", "rate", 1, 0],
      "rate_ratio" => ["times base", "rate", 1, 2, :ratio],
      "rate_interval" => ["times base [95%]", "rate", 1, 2, :interval],
      "megabytes" => ["MB/s", "byte_rate", 1e-6, 0],
      "megabytes_ratio" => ["times base", "byte_rate", 1, 2, :ratio],
      "cpu" => ["CPU us/request", "cpu", 1, 2],
      "cpu_ratio" => ["times base", "cpu", 1, 2, :ratio],
      "cpu_interval" => ["times base [95%]", "cpu", 1, 3, :interval],
      "p50" => ["p50 ms", "p50", 1, 2],
      "p95" => ["p95 ms", "p95", 1, 2],
      "p99" => ["p99 ms", "p99", 1, 2],
      "p95_interval" => ["times base [95%]", "p95", 1, 2, :interval],
      "p99_interval" => ["times base [95%]", "p99", 1, 2, :interval],
      "p95_p50" => ["p95/p50", "p95_p50", 1, 2],
      "switches" => ["switches/request", "switches", 1, 2],
      "server_cpu" => ["server %", "server_cpu", 100, 0],
      "load_cpu" => ["load %", "load_cpu", 100, 0],
      "pss" => ["PSS MB", "pss", 1, 1],
      "idle" => ["idle held", "idle", 1, 0],
      "idle_bytes" => ["bytes/idle", "idle_bytes", 1, 0],
      "idle_rate" => ["requests/s with idle", "idle_rate", 1, 0],
      "idle_rate_ratio" => ["times without", "idle_rate_ratio", 1, 2],
      "idle_p99" => ["p99 ms with idle", "idle_p99", 1, 2],
      "idle_p99_ratio" => ["times without", "idle_p99_ratio", 1, 2],
      "slow_rate" => ["requests/s with slow", "slow_rate", 1, 0],
      "slow_rate_quartiles" => ["times without [quartiles]", "slow_rate_ratio", 1, 2, :quartiles],
      "slow_p99" => ["p99 ms with slow", "slow_p99", 1, 2],
      "slow_p99_quartiles" => ["times without [quartiles]", "slow_p99_ratio", 1, 2, :quartiles],
      "arrival_rate" => ["while they come", "arrival_rate_ratio", 1, 2],
      "arrival_p99" => ["p99 ms then", "arrival_p99", 1, 2],
      "slow_held" => ["slow held", "slow_held", 1, 0],
      "slow_closed" => ["slow closed", "slow_closed", 1, 0],
      "slow_cpu" => ["CPU us/request with slow", "slow_cpu", 1, 2],
      "slow_alone" => ["server % with slow alone", "slow_alone", 100, 1],
      "slow_growth" => ["MB more with slow", "slow_growth", 1, 1],
      "offered" => ["offered/s", "offered", 1, 0],
      "goodput" => ["right/s", "goodput", 1, 0],
      "goodput_share" => ["of capacity", "goodput_share", 1, 2],
      "shed" => ["503 %", "shed", 100, 0],
      "accepted_p50" => ["p50 ms of right", "accepted_p50", 1, 0],
      "accepted_p99" => ["p99 ms of right", "accepted_p99", 1, 0],
      "shed_p99" => ["p99 ms of 503", "shed_p99", 1, 1],
      "growth" => ["MB grown", "growth", 1, 1],
      "available" => ["available %", "available", 100, 0]
    }.transform_values { |parts| Column.new(*parts) }.freeze
  end
end

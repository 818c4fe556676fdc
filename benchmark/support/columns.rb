# frozen_string_literal: true

module Bench
  # The columns a table may have: how each is headed, and how it is told from Results for a subject and the one it is
  # compared with.
  module Columns
    # way: what is shown: nil (the median), :ratio (to the other's, the median), :quartiles (the median with its
    # quartiles) or :interval (the ratio to the other's with its 95% interval).
    Column = Struct.new(:heading, :figure, :scale, :digits, :way) do
      # The cell's text, or "" where there is nothing to tell.
      def text(results, subject)
        value, *range = values(results, *subject.values_at(:name, :versus))
        return "" unless value

        return number(value) if range.empty? || range.none?

        "#{number(value)} [#{range.map { |bound| number(bound) }.join(" ")}]"
      end

      private

      # [value], or [value, low, high].
      def values(results, name, versus)
        case way
        when :ratio then [results.ratio(name, versus, figure)]
        when :quartiles then results.quartiles(name, figure)&.values_at(1, 0, 2)
        when :interval then results.interval(name, versus, figure)&.to_a&.first(3)
        else [results.median(name, figure)]
        end
      end

      def number(value)
        delimit(format("%.#{digits}f", value * scale))
      end

      # "12345.6" as "12,345.6".
      def delimit(number)
        whole, point, fraction = number.partition(".")
        whole.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",") + point + fraction
      end
    end

    ALL = {
      "rate" => Column.new("requests/s", :rate, 1, 0),
      "rate_ratio" => Column.new("times base", :rate, 1, 2, :ratio),
      "megabytes" => Column.new("MB/s", :byte_rate, 1e-6, 0),
      "megabytes_ratio" => Column.new("times base", :byte_rate, 1, 2, :ratio),
      "cpu" => Column.new("CPU us/request", :cpu, 1, 2),
      "cpu_ratio" => Column.new("times base", :cpu, 1, 2, :ratio),
      "p50" => Column.new("p50 ms", :p50, 1e-3, 2),
      "p95" => Column.new("p95 ms", :p95, 1e-3, 2),
      "p99" => Column.new("p99 ms", :p99, 1e-3, 2),
      "p95_p50" => Column.new("p95/p50", :p95_p50, 1, 2),
      "switches" => Column.new("switches/request", :switches, 1, 2),
      "server_cpu" => Column.new("server %", :server_cpu, 100, 0),
      "load_cpu" => Column.new("load %", :load_cpu, 100, 0),
      "pss" => Column.new("PSS MB", :pss, 1 / 1024.0, 1),
      "idle" => Column.new("idle held", :idle, 1, 0),
      "idle_bytes" => Column.new("bytes/idle", :idle_bytes, 1, 0),
      "idle_rate" => Column.new("requests/s with idle", :idle_rate, 1, 0),
      "idle_rate_ratio" => Column.new("times without", :idle_rate_ratio, 1, 2),
      "idle_p99" => Column.new("p99 ms with idle", :idle_p99, 1e-3, 2),
      "idle_p99_ratio" => Column.new("times without", :idle_p99_ratio, 1, 2),
      "rate_interval" => Column.new("times base [95%]", :rate, 1, 2, :interval),
      "p95_interval" => Column.new("times base [95%]", :p95, 1, 2, :interval),
      "p99_interval" => Column.new("times base [95%]", :p99, 1, 2, :interval),
      "slow_rate" => Column.new("requests/s with slow", :slow_rate, 1, 0),
      "slow_rate_quartiles" => Column.new("times without [quartiles]", :slow_rate_ratio, 1, 2, :quartiles),
      "slow_p99" => Column.new("p99 ms with slow", :slow_p99, 1e-3, 2),
      "slow_p99_quartiles" => Column.new("times without [quartiles]", :slow_p99_ratio, 1, 2, :quartiles),
      "arrival_rate" => Column.new("while they come", :arrival_rate_ratio, 1, 2),
      "arrival_p99" => Column.new("p99 ms then", :arrival_p99, 1e-3, 2),
      "slow_held" => Column.new("slow held", :slow_held, 1, 0),
      "slow_closed" => Column.new("slow closed", :slow_closed, 1, 0),
      "slow_cpu" => Column.new("CPU us/request with slow", :slow_cpu, 1, 2),
      "slow_alone" => Column.new("server % with slow alone", :slow_alone, 100, 1),
      "slow_growth" => Column.new("MB more with slow", :slow_growth, 1 / 1024.0, 1),
      "offered" => Column.new("offered/s", :offered, 1, 0),
      "goodput" => Column.new("right/s", :goodput, 1, 0),
      "goodput_share" => Column.new("of capacity", :goodput_share, 1, 2),
      "shed" => Column.new("503 %", :shed, 100, 0),
      "accepted_p50" => Column.new("p50 ms of right", :accepted_p50, 1e-3, 0),
      "accepted_p99" => Column.new("p99 ms of right", :accepted_p99, 1e-3, 0),
      "shed_p99" => Column.new("p99 ms of 503", :shed_p99, 1e-3, 1),
      "growth" => Column.new("MB grown", :growth, 1 / 1024.0, 1),
      "available" => Column.new("available %", :available, 100, 0)
    }.freeze
  end
end

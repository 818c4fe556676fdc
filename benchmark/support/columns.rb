# frozen_string_literal: true

module Bench
  # The columns a table may have: how each is headed, and how it is told from Results for a subject and the one it is
  # compared with.
  module Columns
    Column = Struct.new(:heading, :figure, :scale, :digits, :ratio) do
      # The cell's text, or "" where there is nothing to tell.
      def text(results, subject)
        value = ratio ? results.ratio(subject[:name], subject[:versus], figure) : results.median(subject[:name], figure)
        value ? delimit(format("%.#{digits}f", value * scale)) : ""
      end

      private

      # "12345.6" as "12,345.6".
      def delimit(number)
        whole, point, fraction = number.partition(".")
        whole.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",") + point + fraction
      end
    end

    ALL = {
      "rate" => Column.new("requests/s", :rate, 1, 0),
      "rate_ratio" => Column.new("times base", :rate, 1, 2, true),
      "megabytes" => Column.new("MB/s", :byte_rate, 1e-6, 0),
      "megabytes_ratio" => Column.new("times base", :byte_rate, 1, 2, true),
      "cpu" => Column.new("CPU us/request", :cpu, 1, 2),
      "cpu_ratio" => Column.new("times base", :cpu, 1, 2, true),
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
      "idle_p99_ratio" => Column.new("times without", :idle_p99_ratio, 1, 2)
    }.freeze
  end
end

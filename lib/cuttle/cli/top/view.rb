# frozen_string_literal: true

module Cuttle
  class CLI
    class Top
      # Two samples as text: a summary in one line, or a page with a line for each worker. A figure that can't be known
      # is a dash.
      class View
        NONE = "-"

        # Columns without a terminal.
        WIDEST = 200

        # Heading => the text of a row's cell. Columns that don't fit are left out, the rightmost first.
        COLUMNS = {
          "WORKER" => ->(row, _) { row.index&.to_s || NONE },
          "PID" => ->(row, _) { row.pid&.to_s || NONE },
          "STATE" => ->(row, _) { row.state },
          "BUSY" => ->(row, view) { view.busy(row.busy, row.threads) },
          "QUEUE" => ->(row, view) { view.count(row.queue) },
          "REQ/S" => ->(row, view) { view.rate(row.rate) },
          "P50" => ->(row, view) { view.quantile(row.ledger, 0.5) },
          "P99" => ->(row, view) { view.quantile(row.ledger, 0.99) },
          "MEMORY" => ->(row, view) { view.size(row.memory) },
          "GVL" => ->(row, view) { view.waiting(row.ledger) },
          "RESTARTS" => ->(row, view) { view.count(row.restarts) },
          "CONNS" => ->(row, view) { view.count(row.connections) },
          "AGE" => ->(row, view) { view.span(row.age) }
        }.freeze

        # Columns of words. Columns of figures are aligned at the right.
        WORDS = %w[WORKER STATE].freeze

        # +trouble+: why there is no newer sample.
        def initialize(now, before, trouble: nil)
          @now = now
          @rows = now.rows(before)
          @trouble = trouble
          ledgers = @rows.filter_map(&:ledger)
          @ledger = Ledger.merge(ledgers) if ledgers.any?
        end

        # The whole server in one line.
        def summary
          facts.map { |name, text| "#{name} #{text}" }.join("  ")
        end

        # The page, no line longer than +width+, no more than +height+ lines.
        def lines(width:, height: 1000)
          head = [title, *wrapped(facts.map { |name, text| "#{name} #{text}" }, width), ""]
          head = [@trouble, *head] if @trouble
          table = table(width)
          room = [height - head.length, 0].max
          table = [*table.first([room - 1, 0].max), "… #{table.length - room + 1} more"] if table.length > room
          [*head, *table].first(height).map { |line| line[0, width].rstrip }
        end

        # Texts of figures

        def busy(busy, threads)
          return NONE unless busy

          threads ? "#{busy}/#{threads}" : busy.to_s
        end

        def count(number) = number ? number.to_s : NONE

        def rate(value)
          value ? format(value < 100 ? "%.1f" : "%.0f", value) : NONE
        end

        # Of the requests in +ledger+, from their first byte to the response's last.
        def quantile(ledger, share)
          total = ledger && ledger[:total]
          seconds = total && Ledger.quantile(total, share)
          seconds ? time(seconds) : NONE
        end

        # The share of the time in the app that was spent waiting for the GVL.
        def waiting(ledger)
          return NONE unless ledger && ledger[:gvl] && ledger[:app] && ledger[:app][:sum].positive?

          format("%.0f%%", 100.0 * ledger[:gvl][:sum] / ledger[:app][:sum])
        end

        def size(octets)
          return NONE unless octets

          octets < 1_000_000_000 ? format("%.0f MB", octets / 1e6) : format("%.2f GB", octets / 1e9)
        end

        def span(seconds)
          return NONE unless seconds

          minutes = (seconds / 60).to_i
          return "#{seconds.to_i} s" if minutes.zero?
          return "#{minutes} min" if minutes < 120

          minutes < 2880 ? "#{minutes / 60} h" : "#{minutes / 1440} d"
        end

        private

        def title
          versions = @now.stats.fetch("versions", {})
          ruby = versions.fetch("ruby", {}).values_at("engine", "version").join(" ")
          "cuttle #{versions["cuttle"]} on #{ruby}, up #{span(@now.age(@now.stats["started_at"]))}"
        end

        def facts
          { "requests/s" => rate(sum(&:rate)), "busy" => busy(sum(&:busy), sum(&:threads)),
            "queue" => count(sum(&:queue)), "p50" => quantile(@ledger, 0.5), "p99" => quantile(@ledger, 0.99),
            "gvl" => waiting(@ledger), "memory" => size(memory), **workers }
        end

        # Of all processes, also those that serve nothing.
        def memory
          known = @now.memory.values.compact
          known.sum if known.any?
        end

        def workers
          return {} unless @now.cluster?

          ready, all = @now.stats.values_at("booted_workers", "workers")
          { "workers" => "#{ready}/#{all}", "restarts" => count(sum(&:restarts)) }
        end

        # nil if no row has one.
        def sum(&block)
          found = @rows.filter_map(&block)
          found.sum if found.any?
        end

        def wrapped(parts, width)
          parts.each_with_object([+""]) do |part, lines|
            lines << +"" if lines.last.length + part.length + 3 > width && !lines.last.empty?
            lines.last << (lines.last.empty? ? "" : "   ") << part
          end
        end

        def table(width)
          columns = COLUMNS.map { |name, cell| [name, *@rows.map { |row| cell.call(row, self) }] }
          columns = columns.drop(1) unless @now.cluster?
          padded = columns.map { |cells| pad(cells) }
          padded.pop while padded.sum { |cells| cells.first.length + 2 } - 2 > width && padded.length > 1
          padded.transpose.map { |cells| cells.join("  ") }
        end

        def pad(cells)
          width = cells.map(&:length).max
          cells.map { |cell| WORDS.include?(cells.first) ? cell.ljust(width) : cell.rjust(width) }
        end

        def time(seconds)
          return format("%.0f us", seconds * 1e6) if seconds < 999.5e-6
          return format(seconds < 9.995e-3 ? "%.2f ms" : "%.0f ms", seconds * 1e3) if seconds < 0.9995

          format("%.2f s", seconds)
        end
      end
    end
  end
end

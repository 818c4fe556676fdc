# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The columns of the table, for the terminal and for the page.
      module Table
        # interval: the 95% interval as text, or nil.
        Cell = Struct.new(:figure, :interval)

        # meaning: a short explanation of the figure. cell: makes a Cell from a row and the View.
        Column = Struct.new(:name, :meaning, :cell)

        module_function

        # The cells of a row, in the order of COLUMNS.
        def cells(row, view)
          COLUMNS.map { |column| column.cell.call(row, view) }
        end

        def estimate(estimate, as)
          Cell.new(Numbers.public_send(as, estimate&.value), Numbers.interval(estimate, as))
        end

        def figure(value, as)
          value = value.value if value.respond_to?(:value)
          Cell.new(Numbers.public_send(as, value))
        end

        # In parentheses if there is no measurable difference.
        def ratio(row, view)
          return Cell.new("overloaded") if row.overloaded?
          return Cell.new("base") if view.base && row.configuration.id == view.base.id

          comparison = view.comparison(row.configuration, row.load)
          return Cell.new(Numbers::NONE) unless comparison

          cell = estimate(comparison.ratio, :ratio)
          cell.figure = "(#{cell.figure})" unless comparison.different?
          cell
        end

        def runs(row)
          valid = row.valid_runs
          all = valid + row.invalid_runs + row.failed_runs
          Cell.new(valid == all ? all.to_s : "#{valid} of #{all}")
        end

        COLUMNS = [
          Column.new("requests/s", "responses per second", ->(row, _) { estimate(row.rate, :rate) }),
          Column.new("ratio", "to the base; in parentheses if there is no measurable difference",
                     ->(row, view) { ratio(row, view) }),
          Column.new("p50", "response time of half of the requests", ->(row, _) { estimate(row.p50, :milliseconds) }),
          Column.new("p95", "19 of 20 were faster", ->(row, _) { estimate(row.p95, :milliseconds) }),
          Column.new("p99", "99 of 100 were faster", ->(row, _) { estimate(row.p99, :milliseconds) }),
          Column.new("CPU", "CPU time of the server per response", ->(row, _) { figure(row.cpu_us, :microseconds) }),
          Column.new("switches", "voluntary context switches per response",
                     ->(row, _) { figure(row.switches, :count) }),
          Column.new("memory", "proportional set size of all processes", ->(row, _) { figure(row.pss_total, :size) }),
          Column.new("a worker", "proportional set size of a worker", ->(row, _) { figure(row.pss_worker, :size) }),
          Column.new("boot", "from the start to the first answer", ->(row, _) { figure(row.boot, :seconds) }),
          Column.new("errors", "requests that failed, in all runs", ->(row, _) { figure(row.errors, :count) }),
          Column.new("runs", "valid runs, and all runs if some are not valid", ->(row, _) { runs(row) })
        ].freeze
      end
    end
  end
end

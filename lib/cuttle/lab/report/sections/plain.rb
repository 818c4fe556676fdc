# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The sections that list data from the results file.
      module Sections
        register "warnings", "Warnings", at: 20 do |view|
          items = view.warnings.map do |warning|
            often = " (the worst of #{warning.runs} such runs, of #{view.results.runs.length})" if warning.runs > 1
            tag(:li, tag(:strong, warning.text), often, (tag(:p, warning.advice) if warning.advice))
          end
          tag(:ul, items, class: "warnings") if items.any?
        end

        register "errors", "Errors", at: 110 do |view|
          next if view.loads.empty?

          failures = view.results.failures.map do |each|
            [*view.names(each.configuration, each.load), (each.block.to_i + 1).to_s, each.reason]
          end
          [table("Requests that failed, in all runs", %w[configuration load error requests], errors(view)) ||
            tag(:p, "No request failed."),
           *table("Runs that failed", %w[configuration load round reason], failures)]
        end

        register "missing", "Not measured", at: 130 do |view|
          rows = view.results.missing.map { |each| [view.name_of_configuration(each.configuration), each.reason] }
          table("Configurations without a run", %w[configuration reason], rows)
        end

        # Differences come first.
        register "fairness", "Fairness", at: 140 do |view|
          rows = (view.results.fairness || []).sort_by { |each| each["same"] ? 1 : 0 }.map do |each|
            [each["what"], each["same"] ? "the same" : tag(:strong, "differs", class: "bad"), each["detail"].to_s]
          end
          table("What was held equal", ["what", "for all", "how"], rows)
        end

        register "environment", "Environment", at: 150 do |view|
          columns = %w[server model workers threads keep-alive version Ruby]
          machine = (view.results.environment || {}).map { |key, value| [key.tr("_", " "), words(value, key)] }
          rows = view.results.configurations.map do |each|
            values = columns.map { |name| each[name.tr("-", "_").downcase] }
            [each.name, *[*values, each.slots || "unbounded"].map { |value| words(value) }]
          end
          [Sheet.table("Machine", %w[what value], machine),
           Sheet.table("Configurations", ["configuration", *columns, "slots"], rows)]
        end

        module_function

        # A table, or nil if it has no row.
        def table(caption, header, rows)
          Sheet.table(caption, header, rows) if rows.any?
        end

        # A row for each configuration, load and error.
        def errors(view)
          counts = view.results.runs.each_with_object(Hash.new(0)) do |run, sums|
            run.errors.each { |error, count| sums[[run.configuration, run.load, error]] += count if count.positive? }
          end
          counts.map do |(configuration, load, error), count|
            [*view.names(configuration, load), error.tr("_", " "), Numbers.count(count)]
          end
        end

        # A value of the results file as text for readers. key: its key in the file.
        def words(value, key = nil)
          case value
          when true then "yes"
          when false then "no"
          when nil then Numbers::NONE
          when Array then value.join(", ")
          when Hash then value.map { |name, each| "#{name} #{each}" }.join(", ")
          when Integer then key == "memory" ? Numbers.size(value) : value.to_s
          else value.to_s
          end
        end
      end
    end
  end
end

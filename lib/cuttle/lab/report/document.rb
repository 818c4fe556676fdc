# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The report as data: what the page shows, with the fields of Analysis' rows and comparisons, and every run as
      # recorded, with its histogram. It contains only JSON's types: keys are Strings, numbers finite, text UTF-8.
      module Document
        SCHEMA = "cuttle-lab-report/1"
        HEADER = %i[id started_at command seed rounds duration warmup app environment fairness cut].freeze
        FIGURES = %i[rate p50 p95 p99 cpu_us pss_total pss_worker switches boot errors valid_runs invalid_runs].freeze

        module_function

        def of(view)
          plain(header(view).merge(findings(view)).merge(troubles(view)).merge("runs" => view.results.runs))
        end

        def header(view)
          results = view.results
          { "schema" => SCHEMA, **HEADER.to_h { |key| [key.to_s, results.public_send(key)] },
            "configurations" => results.configurations, "loads" => results.loads }
        end

        def findings(view)
          { "recommendation" => recommendation(view.analysis.recommendation), "verdict" => view.analysis.verdict,
            "base" => view.base&.id,
            "controls" => view.analysis.controls.map { |each| comparison(each) },
            "rows" => view.loads.flat_map { |load| view.rows(load).map { |row| row_of(row) } },
            "comparisons" => view.loads.flat_map { |load| view.comparisons(load).map { |each| comparison(each) } } }
        end

        def troubles(view)
          results = view.results
          { "interrupted" => results.interrupted?, "missing" => results.missing, "failures" => results.failures,
            "warnings" => results.warnings,
            "left_out" => results.left_out, "damages" => results.damages }
        end

        # pick: nil if the lab can't say what to run; then doubt says why.
        def recommendation(found)
          { "pick" => found.pick && choice(found.pick), "doubt" => found.doubt,
            "choices" => found.choices.map { |each| choice(each) },
            "closed" => found.closed&.id, "open" => found.open&.id, "unclear" => found.unclear.map(&:id),
            "uncompared" => found.coverage&.uncompared.to_a.map(&:id) }
        end

        def choice(choice)
          choice.to_h.merge(configuration: choice.configuration.id, equals: choice.equals.map(&:id))
        end

        def row_of(row)
          { "configuration" => row.configuration.id, "load" => row.load.id,
            **FIGURES.to_h { |key| [key.to_s, row.public_send(key)] }, "overloaded" => row.overloaded? }
        end

        def comparison(comparison)
          { "configuration" => comparison.configuration.id, "base" => comparison.baseline.id,
            "load" => comparison.load.id,
            "measure" => comparison.measure.name, "ratio" => comparison.ratio, "p" => comparison.p,
            "different" => comparison.different?, "detectable" => comparison.detectable }
        end

        def plain(value)
          case value
          when Struct, Results::Record then plain(value.to_h)
          when Hash then value.to_h { |key, each| [Markup.clean(key), plain(each)] }
          when Array then value.map { |each| plain(each) }
          when Float then value if value.finite?
          when Integer, true, false, nil then value
          else Markup.clean(value)
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    module Archive
      # The lines of a results file that findings need: only runs of declared conditions, without windows, proofs and
      # marks, with "steady" only for runs that weren't, only the names of warnings, numbers with five digits, no paths
      # of this machine. A histogram stays only if a reported percentile has too few responses in its run. Then only the
      # part that can contain that percentile stays.
      class Excerpt
        DROPPED = %w[order at boot proof octets elapsed speed repeated marks windows histogram].freeze
        HEADER = %w[fairness cut].freeze # also dropped
        SERVER = %w[pss switches cpu_share].freeze # also dropped
        TIMES = Metric::ALL.values.select { |metric| metric.kind == :time }.map(&:name).freeze
        DIGITS = 5
        BEYOND = 5 # the part of the histogram that is kept, in multiples of the share beyond a percentile

        def initialize(findings)
          @findings = findings
          @results = findings.results
        end

        # An Array of Hashes.
        def lines
          told = [header, *of("missing", @results.missing), *of("failure", @results.failures), *warnings]
          [*told, *runs.map { |run| rounded(run(run)) }, ending].map { |line| plain(line) }
        end

        private

        def runs
          declared = @findings.pairs
          @results.runs.select { |run| declared.include?([run.configuration, run.load]) }
        end

        def header
          app = @results.app&.slice("name")
          configurations = @results.configurations.map { |each| each.to_h.except("ruby_path").compact }
          loads = @results.loads.map { |each| each.to_h.compact }
          @results.header.except(*HEADER)
                  .merge("app" => app, "command" => words, "configurations" => configurations, "loads" => loads).compact
        end

        # The command without the directory of the results.
        def words
          words = @results.command.to_a
          at = words.index("--directory")
          at ? words[0...at] + words.drop(at + 2) : words
        end

        def of(type, records)
          records.map { |record| { "type" => type, **record.to_h } }
        end

        # The lab's warnings, and one line for each kind of its runs' warnings.
        def warnings
          of_runs = @results.runs.flat_map { |run| run.warnings || [] }.group_by { |each| each["name"] }
          of("warning", @results.warnings) +
            of_runs.map { |name, all| { "type" => "warning", "name" => name, "text" => text(all) } }
        end

        def text(warnings)
          "#{warnings.first["text"]} (the first of #{warnings.length} such runs of #{@results.runs.length})"
        end

        def run(run)
          hash = run.to_h
          histogram = hash["histogram"] if run.valid? && needed.key?([run.configuration, run.load])
          hash.except(*DROPPED, *("reasons" if run.valid?), *("steady" unless run.steady == false))
              .merge("ms" => run.ms&.slice(*TIMES)&.compact, "server" => server(run),
                     "errors" => run.errors.select { |_, count| count&.positive? },
                     "warnings" => run.warnings&.map { |warning| warning.slice("name") },
                     "histogram" => histogram && upper(run, histogram))
              .reject { |_, value| value.nil? || value == {} || value == [] }
        end

        def server(run)
          run.server&.except(*SERVER, *("cpu_by_process" unless metrics.values.flatten.include?("spread")))
        end

        def ending
          { "type" => "end", "at" => @results.runs.last&.at, "interrupted" => false }
        end

        # { [configuration, load] => slot }: conditions in which a run lacks a reported percentile. All slots below that
        # slot are merged into one.
        def needed
          @needed ||= told.each_with_object({}) do |(condition, metrics), found|
            runs = @findings.runs(condition)
            least = lacking(runs, metrics).min
            found[[runs.first.configuration, runs.first.load]] = lowest(runs, least) if least
          end
        end

        # { condition => Metrics }
        def told
          metrics.each_with_object({}) do |(entry, names), told|
            metrics = names.map { |name| Metric.fetch(name) }
            entry.conditions.each { |condition| told[condition] = told.fetch(condition, []) | metrics }
          end
        end

        def metrics
          @metrics ||= Report::Rows.metrics(@findings.study)
        end

        # Reported percentiles for which a run has too few responses.
        def lacking(runs, metrics)
          metrics.select { |metric| metric.percentile && runs.any? { |run| lacks?(run, metric) } }.map(&:percentile)
        end

        def lacks?(run, metric)
          run.time(metric.name).nil? && run["histogram"]
        end

        # The slot below every value that may be needed, over all runs.
        def lowest(runs, percentile)
          share = [1 - (BEYOND * (100 - percentile) / 100.0), 0.0].max
          runs.filter_map { |run| run["histogram"]&.then { |histogram| slot_at(pairs(histogram), share) } }.min
        end

        def slot_at(pairs, share)
          left = share * pairs.sum(&:last)
          pairs.find { |_, count| (left -= count) <= 0 }&.first || 0
        end

        def upper(run, histogram)
          below, above = pairs(histogram).partition { |slot, _| slot < needed.fetch([run.configuration, run.load]) }
          merged = below.any? ? [[below.first.first, below.sum(&:last)]] : []
          histogram.merge("slots" => (merged + above).flatten)
        end

        # Pairs of [slot, count], from the lowest.
        def pairs(histogram)
          histogram["slots"].each_slice(2).to_a
        end

        # Removes paths of this machine.
        def plain(value)
          deep(value) { |each| each.is_a?(String) ? without_paths(each) : each }
        end

        # Rounds measured values. Requested values stay exact, because they identify conditions.
        def rounded(run)
          deep(run) do |each|
            each.is_a?(Float) && !each.zero? ? each.round(DIGITS - 1 - Math.log10(each.abs).floor) : each
          end
        end

        def deep(value, &block)
          case value
          when Hash then value.transform_values { |each| deep(each, &block) }
          when Array then value.map { |each| deep(each, &block) }
          else block.call(value)
          end
        end

        def without_paths(text)
          here = File.dirname(ROOT)
          text.include?(here) ? text.gsub("#{here}/", "").gsub(here, ".") : text
        end
      end
    end
  end
end

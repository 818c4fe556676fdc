# frozen_string_literal: true

require "shellwords"

module Cuttle
  module Studies
    module Report
      # The conditions of a study, in sentences: the machine, the scale, the problems, and the command that repeats it.
      module Conditions
        LEAST = Study::LEAST * Lab::Runner::Trial::ENOUGH # seconds; a shorter run says little about a rate

        module_function

        # "Measured 2026-11-21 on …; ….", and the parts that were shorter than in the original.
        def measured(findings)
          results = findings.results
          measured = ["Measured #{date(findings)} on #{machine(results.environment)}", cores(results.environment),
                      "#{rounds(findings)}, seed #{results.seed}"].join("; ")
          ["#{measured}.", *scale(findings)&.then { |shorter| "#{capital(shorter)}." },
           *agreement(findings.control), *connections(results)].join(" ")
        end

        # "5 rounds"; with a precision, the further ones had only a part of the study.
        def rounds(findings)
          own, more = findings.study.rounds, findings.rounds - findings.study.rounds
          return Units.plural(findings.rounds, "round") unless precision(findings) && more.positive?

          "#{Units.plural(own, "round")}, and up to #{more} more for ratios of claims"
        end

        # The precision that the rounds aimed at, a share; or nil.
        def precision(findings)
          findings.results.header.dig(Experiment::NOTE, "precision")
        end

        # The largest number of open database connections, in a sentence; nil if it was not recorded.
        def connections(results)
          counts = results.runs.filter_map { |run| run["database_connections"] }
          "Up to #{Units.plural(counts.max, "connection")} were open at the database." if counts.any?
        end

        # A sentence on the A/A control that supports the study; nil if the control doesn't.
        def agreement(control)
          return unless agrees?(control)

          "The same configuration, measured twice, differed by #{Figures.ratio(control)}."
        end

        # A sentence on a control that raises doubts about the study; or nil.
        def doubt(control)
          return "No A/A control was measured." unless control&.interval?
          return if agrees?(control)

          "The A/A control differs: the same configuration, measured twice, #{Figures.ratio(control)}. So other " \
            "differences may be chance too."
        end

        def agrees?(control)
          control&.interval? && (control.low..control.high).cover?(1)
        end

        def date(findings)
          findings.results.started_at.to_s[0, 10]
        end

        def machine(environment)
          memory = environment["memory"]&.then { |octets| Numbers.size(octets) }
          [environment["cpu"], memory, *environment.values_at("system", "kernel", "ruby")].compact.join(", ")
        end

        # The cores of the servers, and those of the load generator.
        def cores(environment)
          ["servers", "load"].zip(environment.values_at("server_cores", "load_cores")).filter_map do |who, cores|
            "#{who} on core#{"s" if cores.length > 1} #{cores.join(" and ")}" if cores&.any?
          end.join(", ")
        end

        # The parts that are shorter than in the original, or nil.
        def scale(findings)
          return if findings.scale.full?

          "waits, computing and numbers of requests are #{format("%g", findings.scale.factor)} times the original's" \
            "#{whole(findings.study)}; rates and times of shortened requests are converted to full length"
        end

        # "; 8 of 23 measurements have full length", if there are such.
        def whole(study)
          number = study.conditions.count(&:full_length)
          "; #{number} of #{study.conditions.length} measurements have full length" if number.positive?
        end

        # The problems, one sentence each.
        def troubles(findings)
          results = findings.results
          [*("It was not completed." if results.interrupted?), *later(findings), *doubt(findings.control),
           *results.missing.map { |each| "Not measured: #{name(results, each.configuration)}: #{each.reason}." },
           *too_few(findings), *failed(results), *invalid(results), *unsteady(results), *short(results),
           *sharing(findings),
           *results.warnings.map { |warning| "#{capital(warning.text)}." }]
        end

        # A sentence on measurements that were declared after the results were kept; or nil.
        def later(findings)
          count = Archive.lacking(findings).length
          "Declared later, and not measured yet: #{Units.plural(count, "measurement")}." if count.positive?
        end

        # The percentiles that have too few responses, in a sentence; or nil.
        def too_few(findings)
          lacking = Rows.of(findings).rows.flat_map(&:values).select { |value| lacks_responses?(value, findings) }
          return if lacking.empty?

          names = lacking.map(&:metric).tally.map { |name, count| "#{name} in #{Units.plural(count, "row")}" }
          "Too few responses for #{names.join(", ")}: a percentile needs ten responses beyond it (more --rounds, a " \
            "larger --scale)."
        end

        def lacks_responses?(value, findings)
          metric = Metric.fetch(value.metric)
          metric.percentile && value.ours.nil? && findings.runs(value.condition, metric).any?
        end

        def failed(results)
          results.failures.group_by { |each| [each.configuration, each.load, each.reason] }.map do |(*ids, reason), all|
            "Failed: #{where(results, *ids)}, #{Units.plural(all.length, "time")}: #{reason}."
          end
        end

        # Runs that are not valid, with their first reason.
        def invalid(results)
          results.runs.reject(&:valid?).group_by { |run| [run.configuration, run.load] }.map do |ids, all|
            reason = all.flat_map { |run| run.reasons || [] }.first
            "Not valid: #{where(results, *ids)}, #{Units.plural(all.length, "run")}: #{reason}."
          end
        end

        # A sentence on valid runs whose rate was still changing when their warm-up ended; or nil.
        def unsteady(results)
          runs = results.runs.select { |run| run.valid? && run.steady == false }
          places = runs.map { |run| where(results, run.configuration, run.load) }.uniq
          return if runs.empty?

          "#{Units.plural(runs.length, "run")} of #{results.runs.length} did not become steady in the warm-up: " \
            "#{places.join("; ")}."
        end

        # Runs that were too short, in a sentence; or nil.
        def short(results)
          runs = results.runs.select { |run| run.valid? && run.rate.to_f.positive? }
          lengths = runs.map { |run| run.responses.fdiv(run.rate) }.select { |seconds| seconds < LEAST }
          return if lengths.empty?

          "#{Units.plural(lengths.length, "run")} of #{results.runs.length} took less than #{LEAST} s, the shortest " \
            "#{format("%.2g", lengths.min)} s: they say little about rates."
        end

        # A sentence on the load's share of a core that it shared with the servers; or nil.
        def sharing(findings)
          cores = findings.shared_cores
          return if cores.empty?

          most, tested = [findings.study.conditions, findings.decisive].map do |conditions|
            conditions.filter_map { |condition| findings.load_share(condition) }.max
          end
          much = most && most > Verdicts::LITTLE
          shared = "The load shared core #{cores.join(", ")} with the servers"
          return "#{shared}; what it took was not kept." unless most

          "#{shared}, and took up to #{percent(most)} of it" \
            "#{", and #{percent(tested)} where claims are tested" if much && tested && tested < most}" \
            "#{": rates there are too low by about as much" if much}."
        end

        def percent(share)
          "#{format("%.2g", share * 100)}%"
        end

        def where(results, configuration, load)
          "#{name(results, configuration)}, #{results.load(load)&.name}"
        end

        def name(results, configuration)
          results.configuration(configuration)&.name || configuration
        end

        def capital(text)
          text.to_s.sub(/\A\p{Ll}/, &:upcase)
        end

        # The command that repeats the study, in the same order.
        def command(findings)
          results = findings.results
          words = ["cuttle", "study", findings.study.name, *("--claims" if findings.study.deciding)]
          words += ["--scale", format("%g", findings.scale.factor)] unless findings.scale.full?
          Shellwords.join([*words, *effort(findings), "--seed", results.seed.to_s])
        end

        # The options for the same number of rounds.
        def effort(findings)
          precision = precision(findings) or return ["--rounds", findings.rounds.to_s]

          ["--precision", format("%g", precision), "--rounds", findings.results.rounds.to_s]
        end
      end
    end
  end
end

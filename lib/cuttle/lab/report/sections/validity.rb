# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The reasons to doubt the figures: invalid runs, the load generator's warnings about valid runs (marks), and
        # the proof that each server ran with the given settings.
        module Validity
          extend Markup

          UNKNOWN = "had too short a warm-up, or too few responses in it, to show that"
          REPEATED = "because other programs used the servers' cores, or these cores were slow"
          PROOFS = "Proof that settings took effect"

          module_function

          def content(view)
            [summary(view), *invalid(view), *marks(view), *proofs(view)]
          end

          def summary(view)
            runs = view.results.runs
            unsteady = runs.count { |run| run.valid? && run.steady == false }
            unknown = runs.count { |run| run.valid? && run.steady.nil? && view.results.warmup.to_f.positive? }
            repeated = runs.count { |run| run["repeated"] }
            sentences = ["#{runs.count(&:valid?)} of #{Units.plural(runs.length, "run")} are valid."]
            sentences << "#{Units.plural(unsteady, "run")} did not become steady in the warm-up." if unsteady.positive?
            sentences << "#{Units.plural(unknown, "run")} #{UNKNOWN}." if unknown.positive?
            sentences << "#{Units.plural(repeated, "run")} repeated, #{REPEATED}." if repeated.positive?
            tag(:p, sentences.join(" "))
          end

          def invalid(view)
            rows = grouped(view, view.invalid) { |run| run.reasons || [] }
            Sections.table("Runs that are not valid", ["configuration", "load", "rounds", "why"], rows)
          end

          # A row for each mark and load, with the configurations that have it.
          def marks(view)
            marked = view.results.runs.select(&:valid?).flat_map { |run| (run.marks || []).map { |mark| [mark, run] } }
            rows = marked.group_by { |mark, run| [mark["name"], run.load] }.map do |(name, load), found|
              [name.to_s.tr("_", " "), view.name_of_load(load), who(view, found.map(&:last)), found.length.to_s,
               found.first.first["text"].to_s]
            end
            header = ["warning", "load", "configurations", "runs", "text of the first one"]
            Sections.table("Warnings about valid runs", header, rows)
          end

          def who(view, runs)
            ids = runs.map(&:configuration).uniq
            return "all" if ids.length == view.configurations.length && ids.length > 1

            ids.map { |id| view.name_of_configuration(id) }.join(", ")
          end

          # A row for each configuration, load and text, with the rounds concerned.
          def grouped(view, runs)
            rounds = runs.each_with_object({}) do |run, found|
              yield(run).each { |text| (found[[run.configuration, run.load, text]] ||= []) << (run.block + 1) }
            end
            rounds.map do |(configuration, load, text), blocks|
              [*view.names(configuration, load), blocks.uniq.join(", "), text]
            end
          end

          def proofs(view)
            rows = view.configurations.flat_map { |configuration| proofs_of(view, configuration) }
            header = ["configuration", "setting", "wanted", "found", "proved", "how"]
            tag(:details, tag(:summary, PROOFS), Sections.table(PROOFS, header, rows)) if rows.any?
          end

          def proofs_of(view, configuration)
            proofs = view.results.runs.select { |run| run.configuration == configuration.id }
                         .flat_map { |run| run.proof || [] }
            proofs.group_by { |proof| proof["setting"] }.map do |setting, of_setting|
              judged = of_setting.reject { |proof| proof["proved"].nil? }
              proved = judged.count { |proof| proof["proved"] }
              last = of_setting.find { |proof| proof["proved"] == false } || of_setting.last
              [configuration.name, setting, *last.values_at("wanted", "found").map(&:to_s),
               outcome(proved, judged.length), last["how"].to_s]
            end
          end

          def outcome(proved, all)
            return "only seen" if all.zero?
            return "yes" if proved == all

            tag(:strong, proved.zero? ? "no" : "in #{proved} of #{Units.plural(all, "run")}", class: "bad")
          end
        end

        register("validity", "Validity", at: 120) { |view| Validity.content(view) if view.results.runs.any? }
      end
    end
  end
end

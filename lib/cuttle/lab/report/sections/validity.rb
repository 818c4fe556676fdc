# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # What is to be held against the figures: runs that don't count, marks on those that do, and the proof that
        # each server ran as it was told.
        module Validity
          extend Markup

          HEADING = "Validity"
          PROOFS = "Proof that settings took effect"

          module_function

          def content(view)
            safe(summary(view), invalid(view), marks(view), proofs(view)) if view.results.runs.any?
          end

          def summary(view)
            all = view.results.runs.length
            valid = all - view.invalid.length
            unsteady = view.results.runs.count { |run| run.valid? && run.steady == false }
            said = ["#{valid} of #{Numbers.plural(all, "run")} are valid."]
            said << "#{Numbers.plural(unsteady, "run")} did not become steady in the warm-up." if unsteady.positive?
            tag(:p, [*said, *repeated(view)].join(" "))
          end

          def repeated(view)
            again = view.results.runs.count { |run| run["repeated"] }
            "#{Numbers.plural(again, "run")} made again: others had the servers' cores, or these were slow." if again.positive?
          end

          def invalid(view)
            rows = grouped(view, view.invalid) { |run| run.reasons || [] }
            Sections.table("Runs that are not valid", ["configuration", "load", "rounds", "why"], rows) if rows.any?
          end

          # A row for each mark and load, with who has it.
          def marks(view)
            marked = view.results.runs.select(&:valid?).flat_map { |run| (run.marks || []).map { |mark| [mark, run] } }
            rows = marked.group_by { |mark, run| [mark["name"], run.load] }.map do |(name, load), found|
              [name.to_s.tr("_", " "), view.name_of_load(load), who(view, found.map(&:last)), found.length.to_s,
               found.first.first["text"].to_s]
            end
            header = ["mark", "load", "configurations", "runs", "what the first one says"]
            Sections.table("Marks on valid runs", header, rows) if rows.any?
          end

          def who(view, runs)
            ids = runs.map(&:configuration).uniq
            return "all" if ids.length == view.configurations.length && ids.length > 1

            ids.map { |id| view.name_of_configuration(id) }.join(", ")
          end

          # A row for each configuration, load and text, with the rounds in which it was so.
          def grouped(view, runs)
            rounds = runs.each_with_object({}) do |run, found|
              yield(run).each { |text| (found[[run.configuration, run.load, text]] ||= []) << (run.block + 1) }
            end
            rounds.map do |(configuration, load, text), blocks|
              [view.name_of_configuration(configuration), view.name_of_load(load), blocks.uniq.join(", "), text]
            end
          end

          def proofs(view)
            rows = view.configurations.flat_map { |configuration| proofs_of(view, configuration) }
            header = ["configuration", "setting", "wanted", "found", "proved", "how"]
            return if rows.empty?

            tag(:details, tag(:summary, PROOFS), Sections.table(PROOFS, header, rows))
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

            tag(:strong, proved.zero? ? "no" : "in #{proved} of #{Numbers.plural(all, "run")}", class: "bad")
          end
        end
      end
    end
  end
end

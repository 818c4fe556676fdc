# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # What all reports show, gathered once: Results and Analysis in the order in which they are read.
      class View
        # Loads that differ in how much they ask for, and in nothing else. unit: what that is counted in.
        Sweep = Struct.new(:name, :unit, :loads) do
          def amount(load)
            load.open? ? load.rate : load.connections
          end

          def amounts
            loads.map { |load| amount(load) }
          end
        end

        # Configurations of one model, which belong into one panel.
        Group = Struct.new(:name, :configurations)
        IN_A_PANEL = 5 # lines that can be told from each other

        # text: what the first one said. runs: in how many it was so, 0 for what is said of the whole lab.
        Warning = Struct.new(:text, :advice, :runs)

        attr_reader :results, :analysis

        def initialize(results, analysis)
          @results = results
          @analysis = analysis
        end

        # Those that were tried.
        def configurations
          @configurations ||= begin
            tried = analysis.table.map { |row| row.configuration.id }
            results.configurations.select { |each| tried.include?(each.id) }
          end
        end

        # Without repetitions of another one.
        def originals
          configurations.reject(&:control_of)
        end

        def loads
          @loads ||= begin
            tried = analysis.table.map { |row| row.load.id }
            results.loads.select { |load| tried.include?(load.id) }
          end
        end

        # The one that asks for most: charts that show a single load show this one first.
        def busiest
          @busiest ||= loads.max_by { |load| load.open? ? [0, load.rate.to_f] : [1, load.connections.to_i] }
        end

        # Rows of the table of +load+, the highest rate first.
        def rows(load)
          rows = configurations.filter_map { |configuration| row(configuration, load) }
          rows.sort_by { |row| -(row.rate&.value || -1) }
        end

        def row(configuration, load)
          @rows ||= analysis.table.to_h { |row| [[row.configuration.id, row.load.id], row] }
          @rows[[configuration.id, load.id]]
        end

        def runs(configuration, load)
          @runs ||= results.runs.group_by { |run| [run.configuration, run.load] }
          @runs.fetch([configuration.id, load.id], [])
        end

        # What the others are compared with, or nil where there is nothing yet.
        def base
          analysis.baseline
        end

        # Of all others with the base, under +load+; the highest ratio first.
        def comparisons(load)
          return [] unless base

          @comparisons ||= {}
          @comparisons[load.id] ||= analysis.comparisons(load: load).sort_by { |each| -each.ratio.value }
        end

        def comparison(configuration, load)
          comparisons(load).find { |each| each.configuration.id == configuration.id }
        end

        # The A/A controls under +load+: comparisons of a configuration with itself.
        def controls(load)
          analysis.controls.select { |each| each.load.id == load.id }
        end

        def sweeps
          alike = loads.group_by { |load| [load.loop, load.keep_alive, load.poisson] }
          alike.map { |(loop, keep_alive, poisson), members| sweep(loop, keep_alive, poisson, members) }
        end

        # Of one model each, small enough for a panel.
        def groups
          by_model = originals.group_by { |each| [each.server, each.model] }
          by_model.flat_map do |(server, model), members|
            parts = members.each_slice(IN_A_PANEL).to_a
            name = group_name(server, model)
            parts.map.with_index(1) { |part, index| Group.new(parts.one? ? name : "#{name} (#{index})", part) }
          end
        end

        def app_name
          (results.app || {})["name"] || "app"
        end

        # What the app was, in a few words: "work (cpu_ms 5, iowait_ms 20)".
        def app
          profile = (results.app || {})["profile"] || {}
          return app_name if profile.empty?

          "#{app_name} (#{profile.map { |key, value| "#{key} #{value}" }.join(", ")})"
        end

        # How it was measured: "5 rounds of 5 s", "4 loads", …
        def scope
          ["#{Numbers.plural(results.rounds.to_i, "round")} of #{Load::Units.duration(results.duration.to_f)}",
           Numbers.plural(configurations.length, "configuration"), Numbers.plural(loads.length, "load"),
           Numbers.plural(results.runs.length, "run"), "seed #{results.seed}"]
        end

        def name_of_configuration(id)
          results.configuration(id)&.name || id
        end

        def name_of_load(id)
          results.load(id)&.name || id
        end

        # Requests that failed in a run: { "timeout" => 3 }
        def errors(run)
          run.errors.select { |_, count| count.positive? }
        end

        def invalid
          results.runs.reject(&:valid?)
        end

        # Of the lab, and of its runs: each kind once, for runs say the same with other figures.
        def warnings
          of_lab = results.warnings.map { |each| Warning.new(each.text, each.advice, 0) }.uniq
          of_runs = results.runs.flat_map { |run| run.warnings || [] }.group_by { |each| each["name"] }.values
          of_lab + of_runs.map { |all| Warning.new(*all.first.values_at("text", "advice"), all.length) }
        end

        private

        def sweep(loop, keep_alive, poisson, members)
          unit = loop == "open" ? "requests/s offered" : "connections"
          words = ["#{loop} loop"]
          words << "Poisson arrivals" if poisson
          words << "a connection each" if keep_alive == false
          sweep = Sweep.new(words.join(", "), unit, members)
          sweep.loads = members.select { |load| sweep.amount(load) }.uniq { |load| sweep.amount(load) }
                               .sort_by { |load| sweep.amount(load) }
          sweep
        end

        def group_name(server, model)
          return model if server == "cuttle" && model
          return server if model.nil? || model == server || models_of(server).one?

          "#{server} #{model}"
        end

        def models_of(server)
          originals.select { |each| each.server == server }.map(&:model).uniq
        end
      end
    end
  end
end

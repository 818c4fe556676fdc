# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # The data that all reports show, collected once: results and analysis in reading order.
      class View
        # Loads that differ only in their number of connections, or of requests per second. unit: the unit of that
        # number.
        Sweep = Struct.new(:name, :unit, :loads)

        # Configurations of one model, for one panel of a chart.
        Group = Struct.new(:name, :configurations)
        IN_A_PANEL = 5 # number of lines that a reader can distinguish

        # text: from the run where it was worst. runs: the number of runs with it; 0 if it concerns the whole lab.
        Warning = Struct.new(:text, :advice, :runs)

        attr_reader :results, :analysis

        def initialize(results, analysis)
          @results = results
          @analysis = analysis
        end

        # The configurations that ran.
        def configurations
          @configurations ||= results.configurations & analysis.table.map(&:configuration)
        end

        # The configurations that don't repeat another one as a control.
        def originals
          configurations.reject(&:control_of)
        end

        def loads
          @loads ||= results.loads & analysis.table.map(&:load)
        end

        # The load with the most connections; if all are open loops, the one with the highest rate.
        def busiest
          @busiest ||= loads.max_by { |load| load.open? ? [0, load.rate.to_f] : [1, load.connections.to_i] }
        end

        # Headings of the groups of a Ranking. BEST stands for the best configuration.
        GROUPS = { best: "best", behind: "measurably behind BEST",
                   unclear: "too few rounds to compare with BEST",
                   overloaded: "overloaded: response times only show how long the runs were",
                   left_out: "left out for the budget",
                   unmeasured: "not measured, or with many errors" }.freeze

        # The rows of +load+, the best first.
        def rows(load)
          ranked(load).flat_map(&:last)
        end

        # [heading or nil, rows] for each group of configurations under +load+, the best first.
        def ranked(load)
          @ranked ||= {}
          @ranked[load.id] ||= begin
            groups = analysis.ranking(load: load)&.groups || { unmeasured: analysis.rows(load) }
            best = analysis.best(load: load)&.configuration&.name
            groups.map { |group, rows| [(GROUPS.fetch(group).sub("BEST") { best } if groups.length > 1), rows] }
          end
        end

        def row(configuration, load)
          @rows ||= analysis.table.to_h { |row| [[row.configuration.id, row.load.id], row] }
          @rows[[configuration.id, load.id]]
        end

        def runs(configuration, load)
          @runs ||= results.runs.group_by { |run| [run.configuration, run.load] }
          @runs.fetch([configuration.id, load.id], [])
        end

        # The configuration that the others are compared with, or nil.
        def base
          analysis.baseline
        end

        # Comparisons of all others with the base under +load+, the highest ratio first. Without those that were
        # overloaded.
        def comparisons(load)
          return [] if base.nil? || row(base, load)&.overloaded?

          @comparisons ||= {}
          @comparisons[load.id] ||= analysis.comparisons(load: load).sort_by { |each| -each.ratio.value }
                                            .reject { |each| row(each.configuration, load).overloaded? }
        end

        def comparison(configuration, load)
          comparisons(load).find { |each| each.configuration.id == configuration.id }
        end

        # The A/A controls under +load+: comparisons of a configuration with itself.
        def controls(load)
          analysis.controls.select { |each| each.load.id == load.id }
        end

        # Connections, or requests per second.
        def amount(load)
          load.open? ? load.rate : load.connections
        end

        def sweeps
          alike = loads.group_by { |load| [load.loop, load.keep_alive, load.poisson] }
          alike.map { |(loop, keep_alive, poisson), members| sweep(loop, keep_alive, poisson, members) }
        end

        # Groups of configurations, each small enough for a panel.
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

        # The app in a few words: "work (cpu_ms 5, iowait_ms 20)".
        def app
          profile = (results.app || {})["profile"] || {}
          return app_name if profile.empty?

          "#{app_name} (#{profile.map { |key, value| "#{key} #{value}" }.join(", ")})"
        end

        # The size of the lab: "5 rounds of 5 s", "4 loads", …
        def scope
          ["#{Units.plural(results.rounds_run, "round")} of #{Units.duration(results.duration.to_f)}",
           Units.plural(configurations.length, "configuration"), Units.plural(loads.length, "load"),
           Units.plural(results.runs.length, "run"), "seed #{results.seed}"]
        end

        def name_of_configuration(id)
          results.configuration(id)&.name || id
        end

        def name_of_load(id)
          results.load(id)&.name || id
        end

        # What was left out to stay within the budget: a sentence for each round after which that happened.
        def left_out
          results.left_out.group_by(&:block).map do |block, all|
            named = all.map { |each| "#{name_of_configuration(each.configuration)} (#{each.reason})" }
            "after round #{block.to_i + 1}, for the budget: #{named.join(", ")}"
          end
        end

        # [name of the configuration, name of the load]
        def names(configuration, load)
          [name_of_configuration(configuration), name_of_load(load)]
        end

        def invalid
          results.runs.reject(&:valid?)
        end

        # The warnings of the lab and of its runs. Runs repeat a warning with other figures, so each kind is listed
        # once.
        def warnings
          of_lab = results.warnings.map { |each| Warning.new(each.text, each.advice, 0) }.uniq
          of_runs = results.runs.flat_map { |run| run.warnings || [] }.group_by { |each| each["name"] }.values
          of_lab + of_runs.map { |all| Warning.new(*worst(all).values_at("text", "advice"), all.length) }
        end

        private

        # Of the same warning with other figures: that with the highest share of time lost, or the lowest speed.
        def worst(warnings)
          shares = warnings.map { |each| each["text"].to_s[/[\d.]+(?=%)/].to_f }
          warnings[shares.index(warnings.first["name"] == "slow" ? shares.min : shares.max)]
        end

        def sweep(loop, keep_alive, poisson, members)
          unit = loop == "open" ? "requests/s offered" : "connections"
          words = ["#{loop} loop"]
          words << "Poisson arrivals" if poisson
          words << "a connection each" if keep_alive == false
          loads = members.select { |load| amount(load) }.uniq { |load| amount(load) }.sort_by { |load| amount(load) }
          Sweep.new(words.join(", "), unit, loads)
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

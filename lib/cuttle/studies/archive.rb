# frozen_string_literal: true

require "fileutils"
require "json"

module Cuttle
  module Studies
    # Archives results beside their declarations: studies/NAME/results.jsonl is a lab's results file, reduced to the
    # data that the findings need (Excerpt). The study's README, docs/studies.md and the page show these results.
    #
    # Rule: only a complete study is archived, measured to its end, as it is declared then.
    #
    # If a study was also measured with another series of Ruby, both are kept: the second in studies/NAME/ruby-SERIES.
    # That one may be reduced to what decides the published claims (Study#claimed).
    module Archive
      autoload :Excerpt, "cuttle/studies/archive/excerpt"

      FILE = Lab::Results::Store::FILE

      module_function

      # Archives the results in +directory+ as those of their study, and returns the path. Raises Failure.
      def take(directory, root = ROOT)
        findings = check(directory, root)
        lines = Excerpt.new(findings).lines.map { |line| "#{JSON.generate(line)}\n" }
        home = home(findings, root)
        FileUtils.mkdir_p(home)
        Documents.replace("#{home}/#{FILE}", lines.join)
      end

      # The directory for findings.
      def home(findings, root = ROOT)
        place(findings.study, series(findings.results), root)
      end

      # The directory for a study's results by that series of Ruby: the study's, unless that has results by another one.
      def place(study, series, root = ROOT)
        first = "#{root}/#{study.name}"
        return first unless File.file?("#{first}/#{FILE}") && series(Lab::Results.read(first)) != series

        "#{first}/ruby-#{series}"
      end

      # "4.0": the series of the Ruby that ran the study.
      def series(results)
        results.environment["ruby"].to_s[/\d+\.\d+/]
      end

      # Further Findings of archived studies, with other series of Ruby. Raises Failure.
      def again(root = ROOT)
        paths = Dir["#{root}/*/ruby-*/#{FILE}"].group_by { |path| File.basename(File.expand_path("../..", path)) }
        studies = ordered(Studies.names(root) & paths.keys, root)
        studies.flat_map { |study| paths.fetch(study.name) }.map { |path| findings(File.dirname(path), root, studies) }
      end

      # The Findings, if they may be archived. Raises Failure.
      def check(directory, root = ROOT)
        findings = findings(directory, root)
        reason = reason_against(findings) || alone(findings.study, series(findings.results), root)
        raise Failure, "#{directory}: #{reason}" if reason

        findings
      end

      # The Findings of each study with archived results, published studies first. Raises Failure.
      def all(root = ROOT)
        there = ordered(Studies.names(root).select { |name| File.file?("#{root}/#{name}/#{FILE}") }, root)
        there.map { |study| findings("#{root}/#{study.name}", root, there) }
      end

      # The Scale of a study's archived results, or nil. Raises Failure.
      def scale(study, root = ROOT)
        directory = "#{root}/#{study.name}"
        Experiment.read(directory, from: [study])[1] if File.file?("#{directory}/#{FILE}")
      end

      # The same for a directory that `cuttle study` has filled: the newest results of each study.
      def newest(directory, root = ROOT)
        studies = ordered(Studies.names(root), root)
        paths = Dir["#{directory}/*/*/#{FILE}"]
        whole = paths.map { |path| findings(File.dirname(path), root, studies) }.reject { |each| each.study.deciding }
        all = whole.group_by { |each| each.study.name }
        all.values_at(*studies.map(&:name)).compact.map { |some| some.max_by { |each| each.results.started_at.to_s } }
      end

      # The studies with these names: published ones first, then the project's own questions.
      def ordered(names, root)
        studies = names.map { |name| Studies.find(name, root) }
        studies.partition { |study| study.entries.any? { |entry| entry.row.file } }.flatten
      end

      # studies: those that are read already, or nil.
      def findings(directory, root = ROOT, studies = nil)
        Findings.new(*Experiment.read(directory, from: studies, root: root))
      end

      # Why the findings can't be archived, or nil.
      def reason_against(findings)
        if lacking(findings).any?
          "#{lacks(findings)}: only a study as a whole is kept"
        elsif findings.results.interrupted?
          "was not completed: continue it (cuttle study --resume), then keep it"
        end
      end

      # The declared Conditions that the results do not have. A study may get more after it was archived.
      def lacking(findings)
        findings.study.conditions.reject { |condition| findings.planned?(condition) }
      end

      # "3 of the 5 measurements of s0-ab": those that the results have.
      def lacks(findings)
        declared = findings.study.conditions.length
        "#{declared - lacking(findings).length} of the #{declared} measurements of #{findings.study.name}"
      end

      # Why results by that series of Ruby of a study that is reduced to its published claims can't be archived, or nil.
      def alone(study, series, root = ROOT)
        return unless study.deciding && place(study, series, root) == "#{root}/#{study.name}"

        "only the claims of #{study.name}: they are kept beside the whole study, measured by another Ruby"
      end
    end
  end
end

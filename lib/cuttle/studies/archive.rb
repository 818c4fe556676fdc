# frozen_string_literal: true

require "fileutils"
require "json"

module Cuttle
  module Studies
    # Archives results beside their declarations: studies/NAME/results.jsonl is a lab's results file, reduced to the
    # data that the findings need (Excerpt). The study's README, docs/studies.md and the page show these results.
    #
    # Rule: only a complete study is archived, measured to its end, as it is declared now.
    #
    # If a study was also measured with another series of Ruby, both are kept: the second in studies/NAME/ruby-SERIES.
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

      # The directory for findings: their study's, unless that has results with another series of Ruby.
      def home(findings, root = ROOT)
        first = "#{root}/#{findings.study.name}"
        own = series(findings.results)
        return first unless File.file?("#{first}/#{FILE}") && series(Lab::Results.read(first)) != own

        "#{first}/ruby-#{own}"
      end

      # "4.0": the series of the Ruby that ran the study.
      def series(results)
        results.environment["ruby"].to_s[/\d+\.\d+/]
      end

      # Further Findings of archived studies, with other series of Ruby. Raises Failure.
      def again(root = ROOT)
        studies = ordered(root)
        studies.flat_map { |study| Dir["#{root}/#{study.name}/ruby-*/#{FILE}"] }
               .map { |path| findings(File.dirname(path), root, studies) }
      end

      # The Findings, if they may be archived. Raises Failure.
      def check(directory, root = ROOT)
        findings = findings(directory, root)
        reason = reason_against(findings)
        raise Failure, "#{directory}: #{reason}" if reason

        findings
      end

      # The Findings of each study with archived results, published studies first. Raises Failure.
      def all(root = ROOT)
        studies = ordered(root)
        there = studies.select { |study| File.file?("#{root}/#{study.name}/#{FILE}") }
        there.map { |study| findings("#{root}/#{study.name}", root, studies) }
      end

      # The same for a directory that `cuttle study` has filled: the newest results of each study.
      def newest(directory, root = ROOT)
        studies = ordered(root)
        paths = Dir["#{directory}/*/*/#{FILE}"]
        all = paths.map { |path| findings(File.dirname(path), root, studies) }.group_by { |each| each.study.name }
        all.values_at(*studies.map(&:name)).compact.map { |some| some.max_by { |each| each.results.started_at.to_s } }
      end

      # Published studies first, then the project's own questions.
      def ordered(root)
        Studies.all(root).partition { |study| study.entries.any? { |entry| entry.row.file } }.flatten
      end

      def findings(directory, root = ROOT, studies = Studies.all(root))
        Findings.new(*Experiment.read(directory, from: studies))
      end

      # Why the findings can't be archived, or nil.
      def reason_against(findings)
        conditions = findings.study.conditions
        planned = conditions.count { |condition| findings.planned?(condition) }
        if planned < conditions.length
          "#{planned} of the #{conditions.length} measurements of #{findings.study.name}: only a study as a whole is " \
            "kept"
        elsif findings.results.interrupted?
          "was not completed: continue it (cuttle study --resume), then keep it"
        end
      end
    end
  end
end

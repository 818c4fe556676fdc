# frozen_string_literal: true

require "json"

module Cuttle
  module Studies
    # Results that are kept with their declarations: studies/NAME/results.jsonl, a lab's results file without what
    # findings don't need (Excerpt). What is said of a study in its README, in docs/studies.md and on the page is said of
    # these.
    #
    # Its law: only a study as a whole is kept, measured to its end, and as it is declared now.
    module Archive
      autoload :Excerpt, "cuttle/studies/archive/excerpt"

      module_function

      # Takes the results in +directory+ for those of their study; returns the path. Raises Failure.
      def take(directory, root = ROOT)
        findings = check(directory, root)
        lines = Excerpt.new(findings).lines.map { |line| "#{JSON.generate(line)}\n" }
        Documents.replace("#{root}/#{findings.study.name}/#{Lab::Results::Store::FILE}", lines.join)
      end

      # Findings of what may be kept. Raises Failure.
      def check(directory, root = ROOT)
        findings = findings(directory, root)
        reason = reason_against(findings)
        raise Failure, "#{directory}: #{reason}" if reason

        findings
      end

      # Findings of each study that has kept results, those of publications first. Raises Failure.
      def all(root = ROOT)
        studies = ordered(root)
        there = studies.select { |study| File.file?("#{root}/#{study.name}/#{Lab::Results::Store::FILE}") }
        there.map { |study| findings("#{root}/#{study.name}", root, studies) }
      end

      # The same of what lies in a directory of results that `cuttle study` filled: of each study the newest.
      def newest(directory, root = ROOT)
        studies = ordered(root)
        paths = Dir["#{directory}/*/*/#{Lab::Results::Store::FILE}"]
        all = paths.map { |path| findings(File.dirname(path), root, studies) }.group_by { |each| each.study.name }
        all.values_at(*studies.map(&:name)).compact.map { |some| some.max_by { |each| each.results.started_at.to_s } }
      end

      # Of publications, then of questions.
      def ordered(root)
        Studies.all(root).partition { |study| study.entries.any? { |entry| entry.row.file } }.flatten
      end

      def findings(directory, root = ROOT, studies = Studies.all(root))
        Findings.new(*Experiment.read(directory, from: studies))
      end

      # Why they can't be kept, or nil.
      def reason_against(findings)
        conditions = findings.study.conditions
        planned = conditions.count { |condition| findings.planned?(condition) }
        if planned < conditions.length
          "#{planned} of the #{conditions.length} measurements of #{findings.study.name}: only a study as a whole is kept"
        elsif findings.results.interrupted?
          "did not come to its end: go on with it (cuttle study --resume), then keep it"
        end
      end
    end
  end
end

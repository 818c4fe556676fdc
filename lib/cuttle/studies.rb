# frozen_string_literal: true

module Cuttle
  # Tests published statements on the concurrency of Ruby servers again: the published numbers, the same experiments on
  # one core, and the verdicts on the claims.
  #
  # Rule: a study is a declaration (studies/NAME/study.rb). The lab measures it, and its findings follow only from the
  # lab's results and the published numbers. Studies uses only the rooms Lab and Load, and the tuner's model for effects
  # that this machine can't show.
  module Studies
    class Failure < Error; end

    autoload :Archive, "cuttle/studies/archive"
    autoload :Beliefs, "cuttle/studies/beliefs"
    autoload :Claim, "cuttle/studies/claim"
    autoload :Condition, "cuttle/studies/condition"
    autoload :Declaration, "cuttle/studies/declaration"
    autoload :Documents, "cuttle/studies/documents"
    autoload :Evidence, "cuttle/studies/evidence"
    autoload :Experiment, "cuttle/studies/experiment"
    autoload :Findings, "cuttle/studies/findings"
    autoload :Forecasts, "cuttle/studies/forecasts"
    autoload :Metric, "cuttle/studies/metric"
    autoload :Outstanding, "cuttle/studies/outstanding"
    autoload :Procedure, "cuttle/studies/procedure"
    autoload :Published, "cuttle/studies/published"
    autoload :Report, "cuttle/studies/report"
    autoload :Reproduction, "cuttle/studies/findings"
    autoload :Request, "cuttle/studies/request"
    autoload :Rubies, "cuttle/studies/rubies"
    autoload :Scale, "cuttle/studies/scale"
    autoload :Study, "cuttle/studies/study"
    autoload :Tested, "cuttle/studies/verdicts"
    autoload :Verdict, "cuttle/studies/verdicts"
    autoload :Verdicts, "cuttle/studies/verdicts"

    # The directory of declarations, published numbers, apps and archived results.
    ROOT = File.expand_path("../../studies", __dir__)

    module_function

    # All studies, sorted by name.
    def all(root = ROOT)
      names(root).map { |name| Declaration.read("#{root}/#{name}/study.rb") }
    end

    # The names of all studies, sorted.
    def names(root = ROOT)
      Dir["*/study.rb", base: root].map { |path| File.dirname(path) }.sort_by { |name| by_number(name) }
    end

    # The study with that name, or nil. No other declaration is read. Raises Failure.
    def find(name, root = ROOT)
      Declaration.read("#{root}/#{name}/study.rb") if names(root).include?(name)
    end

    # Sorts q10 after q9.
    def by_number(name)
      name.scan(/\d+|\D+/).map { |part| part.match?(/\d/) ? [0, part.to_i, ""] : [1, 0, part] }
    end

    # The studies that +words+ select, each reduced to that selection: "all", a study's name ("s0-ab"), a prefix of
    # names or of published numbers ("s0", "s4"), or one published number ("s0.10"). Raises UsageError.
    def select(words, from: all)
      return from if words == %w[all]

      words.each { |word| from.any? { |study| study.meant_by?(word) } or raise UsageError, unknown(word, from) }
      from.filter_map do |study|
        meant = words.select { |word| study.meant_by?(word) }
        study.only(meant) if meant.any?
      end
    end

    def unknown(word, from)
      "no study #{word.inspect}: #{from.map(&:name).join(", ")}, a number such as #{from.flat_map(&:ids).first}, or all"
    end
  end
end

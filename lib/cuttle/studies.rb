# frozen_string_literal: true

module Cuttle
  # What was published on the concurrency of Ruby servers, tested again: the numbers of then, the same experiments on
  # one core, and what became of the claims.
  #
  # Its law: a study is a declaration (studies/NAME/study.rb); it is measured by the lab, and what is said of it follows
  # from the lab's results and the published numbers alone. The only rooms it knows are Lab and Load.
  module Studies
    class Failure < Error; end

    autoload :Archive, "cuttle/studies/archive"
    autoload :Claim, "cuttle/studies/claim"
    autoload :Condition, "cuttle/studies/condition"
    autoload :Declaration, "cuttle/studies/declaration"
    autoload :Documents, "cuttle/studies/documents"
    autoload :Evidence, "cuttle/studies/evidence"
    autoload :Experiment, "cuttle/studies/experiment"
    autoload :Findings, "cuttle/studies/findings"
    autoload :Metric, "cuttle/studies/metric"
    autoload :Procedure, "cuttle/studies/procedure"
    autoload :Published, "cuttle/studies/published"
    autoload :Report, "cuttle/studies/report"
    autoload :Reproduction, "cuttle/studies/reproduction"
    autoload :Request, "cuttle/studies/request"
    autoload :Rubies, "cuttle/studies/rubies"
    autoload :Scale, "cuttle/studies/scale"
    autoload :Study, "cuttle/studies/study"

    # Where the declarations, the published numbers, the apps and the kept results are.
    ROOT = File.expand_path("../../studies", __dir__)

    module_function

    # All there are, by their names.
    def all(root = ROOT)
      Dir["#{root}/*/study.rb"].map { |path| Declaration.read(path) }.sort_by { |study| by_number(study.name) }
    end

    # So that q10 comes after q9.
    def by_number(name)
      name.scan(/\d+|\D+/).map { |part| part.match?(/\d/) ? [0, part.to_i, ""] : [1, 0, part] }
    end

    # Those that +words+ ask for, each as a Study that holds no more than that: "all", a study's name ("s0-ab"), the
    # beginning of names and of published numbers ("s0", "s4"), one published number ("s0.10"). Raises UsageError.
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

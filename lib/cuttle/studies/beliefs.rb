# frozen_string_literal: true

module Cuttle
  module Studies
    # Recommendations for practitioners, in sentences: studies/beliefs.csv. A sentence is based on one claim, and holds
    # only while that claim has the verdict for which the sentence was written. A new measurement that contradicts a
    # sentence removes it.
    module Beliefs
      MOST = 10 # reports show the first ones that hold

      # claim: its id. verdict: a word of Verdicts::WORDS.
      Sentence = Struct.new(:claim, :verdict, :text)

      module_function

      # All Sentences, in the order of the file; none without a file. Raises Failure.
      def read(root = ROOT)
        return [] unless File.file?("#{root}/beliefs.csv")

        Published.records("beliefs.csv", root, below: nil).map do |record|
          Sentence.new(*record.values_at("claim", "verdict", "sentence"))
        end
      end

      # [[Sentence, Report::Summary::Line], …]: the first sentences that hold with these findings.
      def held(sentences, lines)
        pairs = sentences.map { |each| [each, lines.find { |line| line.claim.id == each.claim }] }
        pairs.select { |sentence, line| line&.main&.word == sentence.verdict }.first(MOST)
      end
    end
  end
end

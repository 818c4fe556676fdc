# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The verdicts on the claims of all studies: the first part of docs/studies.md and of the page.
      class Summary
        OURS = "Cuttle"

        # A claim and its verdicts. again: [[name of another Ruby, its verdicts there], …]
        Line = Struct.new(:study, :claim, :verdicts, :again) do
          # The verdict on Cuttle, or the one without a server; or nil.
          def ours
            verdicts.find { |each| each.by.nil? || each.by.include?(OURS) }
          end

          def others
            verdicts - [ours]
          end

          # "confirmed (Ruby 4.0 with YJIT)"
          def elsewhere
            again.filter_map do |ruby, verdicts|
              main = verdicts.find { |each| !each.model }
              "#{main.word} (#{ruby})" if main
            end
          end

          # "refuted", with the servers, unless it is only Cuttle.
          def words(list)
            list.compact.map { |each| "#{each.word}#{" (#{each.by})" unless [nil, OURS].include?(each.by)}" }
          end

          # The verdict on the claim: the one on Cuttle, unless the claim is about another server.
          def main
            verdicts.find { |each| !each.model }
          end

          # The measured ratio of each statement, on Cuttle and then on other servers, and the reason why the
          # claim itself could not be tested.
          def evidence
            first, *others = verdicts.reject(&:reason)
            ratios = first&.evidence&.map&.with_index { |each, index| ratios(each, index, others) }
            [*ratios&.join("; "), *Figures.reason(main)].join(main.reason ? "; " : ". ")
          end

          private

          def ratios(tested, index, others)
            return Figures.tested(tested) if tested.reason

            statement = tested.statement
            elsewhere = others.map do |verdict|
              ", on #{verdict.by} #{Figures.measured(statement, verdict.evidence[index].found)}"
            end
            measured = [Figures.measured(statement, tested.found), *elsewhere].join
            "#{statement.text}: #{measured}, #{Figures.expected(statement)}"
          end
        end

        # all: the Findings of each study. again: further Findings of these studies, with other Rubies.
        def initialize(all, again: [])
          @all = all
          @again = again.group_by { |findings| findings.study.name }
        end

        # Whether anything was also measured with another Ruby.
        def again?
          @again.any?
        end

        # [[Beliefs::Sentence, Line], …]: the sentences that hold.
        def beliefs(sentences)
          Beliefs.held(sentences, lines)
        end

        # Lines of the published claims.
        def published
          lines.select { |line| line.claim.published? }
        end

        # Lines of the claims that are this project's own.
        def own
          lines.reject { |line| line.claim.published? }
        end

        # "Of 28 published claims, …: 12 confirmed, …".
        def sentence
          count = published.length
          words = Verdicts::WORDS.filter_map do |verdict, word|
            number = published.count { |line| line.main.verdict == verdict }
            "#{number} #{word}" if number.positive?
          end
          "Of #{Units.plural(count, "published claim")}, tested on the original servers if they are about these, " \
            "otherwise on Cuttle: #{words.join(", ")}."
        end

        private

        def lines
          @lines ||= @all.flat_map do |findings|
            findings.verdicts.group_by(&:claim).map do |claim, verdicts|
              Line.new(findings.study, claim, verdicts, again(findings.study, claim))
            end
          end
        end

        def again(study, claim)
          @again.fetch(study.name, []).map do |findings|
            [Threats.ruby(findings.results.environment), findings.verdicts.select { |each| each.claim.id == claim.id }]
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The verdicts on the claims of all studies: the first part of docs/studies.md and of the page.
      class Summary
        OURS = "our core"

        # A claim and its verdicts.
        Line = Struct.new(:study, :claim, :verdicts) do
          # The verdict on our core, or the one that is about no server; or nil.
          def ours
            verdicts.find { |each| each.by.nil? || each.by.include?(OURS) }
          end

          def others
            verdicts - [ours]
          end

          # "refuted", with the servers, unless it is our core alone.
          def words(list)
            list.compact.map do |each|
              "#{Findings::WORDS[each.verdict]}#{" (#{each.by})" unless [nil, OURS].include?(each.by)}"
            end
          end

          # The verdict that counts.
          def main
            ours || verdicts.first
          end

          # The measured ratio of each statement, on our core and then on other servers.
          def evidence
            return Figures.reason(main) if main.reason

            main.evidence.map.with_index { |(statement, found, _), index| ratios(statement, found, index) }.join("; ")
          end

          private

          def ratios(statement, found, index)
            elsewhere = (verdicts - [main]).filter_map do |verdict|
              verdict.evidence[index]&.then { |_, other, _| ", on #{verdict.by} #{Figures.ratio(other)}" }
            end
            "#{statement.text}: #{Figures.ratio(found)}#{elsewhere.join}, to be #{statement.bounds}"
          end
        end

        # all: Findings of one study each.
        def initialize(all)
          @all = all
        end

        # Lines of the published claims.
        def published
          lines.select { |line| published?(line.claim) }
        end

        # Lines of the claims that are this project's own.
        def own
          lines.reject { |line| published?(line.claim) }
        end

        # "Of 28 published claims, …: 12 confirmed, …".
        def sentence
          count = published.length
          words = Findings::WORDS.filter_map do |verdict, word|
            number = published.count { |line| line.main.verdict == verdict }
            "#{number} #{word}" if number.positive?
          end
          "Of #{Units.plural(count, "published claim")}, tried on our core or, where they are about certain " \
            "servers, on these: #{words.join(", ")}."
        end

        private

        def lines
          @lines ||= @all.flat_map do |findings|
            findings.verdicts.group_by(&:claim).map { |claim, verdicts| Line.new(findings.study, claim, verdicts) }
          end
        end

        def published?(claim)
          @claims ||= Published.claims
          @claims.key?(claim.id)
        end
      end
    end
  end
end

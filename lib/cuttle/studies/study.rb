# frozen_string_literal: true

module Cuttle
  module Studies
    # An experiment as published, and how it is made here. Frozen; made by Declaration.
    #
    #   name, title, source, question, design   texts
    #   flaws        known faults of the original
    #   app, profile name or path, and its profile, as in the lab
    #   cores        number of server cores, or :all, including the load's core, if the load has almost nothing to do;
    #                 nil: the lab's choice, with separate cores for both
    #   rounds, warmup    as in the lab
    #   entries      Entries, in the published order
    #   claims       Claims
    class Study
      ATTRIBUTES = %i[name title source question design flaws app profile cores rounds warmup entries claims].freeze

      CONTROL = "control" # the copy of a condition
      BEYOND = 10 # least number of responses beyond a percentile

      # A published Row, and the Conditions that measure it: Cuttle first, then the original server. reason: why there
      # are none, or nil.
      Entry = Struct.new(:row, :conditions, :reason)

      attr_reader(*ATTRIBUTES)

      def initialize(**attributes)
        ATTRIBUTES.each { |name| instance_variable_set("@#{name}", attributes.fetch(name)) }
        freeze
      end

      # Published ids.
      def ids
        entries.map { |entry| entry.row.id }.uniq
      end

      # Whether a word of the command line selects the study or a part of it.
      def meant_by?(word)
        whole?(word) || ids.any? { |id| part?(id, word) } || claims.any? { |claim| part?(claim.id, word) }
      end

      # The study, reduced to what the words select and what the selected claims need.
      def only(words)
        return self if words.any? { |word| whole?(word) }

        asked = claims.select { |claim| words.any? { |word| part?(claim.id, word) } }
        needed = asked.flat_map(&:ids)
        kept = entries.select do |entry|
          needed.include?(entry.row.id) || words.any? { |word| part?(entry.row.id, word) }
        end
        with(entries: kept, claims: asked)
      end

      def with(**changes)
        Study.new(**ATTRIBUTES.to_h { |name| [name, public_send(name)] }, **changes)
      end

      # All conditions, each once.
      def conditions
        entries.flat_map(&:conditions).uniq
      end

      # The A/A control: the Condition that is measured twice, and its copy. Differences between the two are noise.
      def control
        twice = conditions.find { |condition| condition.copy.nil? && condition.tester.nil? } or return []
        [twice, twice.with(copy: CONTROL)]
      end

      # The lab's load of a condition: each run has as many responses as the percentiles in claims need.
      def load(condition, scale)
        load = condition.load(scale)
        load.merge("requests" => [load["requests"], least(condition)].max)
      end

      # [claim, figure] of each claim about rows that aren't measured; it could never be decided.
      def unmeasured
        pairs = claims.flat_map { |claim| claim.statements.flat_map(&:figures).map { |figure| [claim, figure] } }
        pairs.reject { |_, figure| entries_of(figure.id, figure.columns).any? { |entry| entry.conditions.any? } }
      end

      # Entries with this id and these columns.
      def entries_of(id, columns = {})
        entries.select do |entry|
          entry.row.id == id && columns.all? { |name, value| entry.row[name.to_s] == value.to_s }
        end
      end

      private

      # The number of responses that the percentiles need that claims use for a condition; 0 without such a percentile.
      def least(condition)
        own = condition.copy == CONTROL ? condition.with(copy: nil) : condition
        figures = claims.flat_map { |claim| claim.statements.flat_map(&:figures) }.select(&:percentile)
        told = figures.uniq.select do |figure|
          entries_of(figure.id, figure.columns).any? { |entry| entry.conditions.include?(own) }
        end
        told.map { |figure| (BEYOND * 100.0 / (100 - figure.percentile)).ceil }.max.to_i
      end

      def whole?(word)
        word == name || name.start_with?("#{word}-")
      end

      def part?(id, word)
        id == word || id.start_with?("#{word}.")
      end
    end
  end
end

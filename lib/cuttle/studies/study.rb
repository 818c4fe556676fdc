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
    #   full_length  whether it means nothing if a Scale shortens it
    #   repeated     Figure of the A/A control, or nil
    #   entries      Entries, in the published order
    #   claims       Claims
    #   deciding     nil; if the study is reduced to what decides published claims (#claimed): their ids
    class Study
      ATTRIBUTES = %i[name title source question design flaws app profile cores rounds warmup full_length repeated
                      entries claims deciding].freeze

      CONTROL = "control" # the copy of a condition
      BEYOND = 10 # least number of responses beyond a percentile
      LEAST = 0.5 # seconds of a run at least, by the rate of its warm-up

      # A published Row, and the Conditions that measure it: Cuttle first, then the original server. reason: why there
      # are none, or nil.
      Entry = Struct.new(:row, :conditions, :reason)

      attr_reader(*ATTRIBUTES)

      def initialize(**attributes)
        ATTRIBUTES.each { |name| instance_variable_set("@#{name}", attributes.fetch(name)) }
        @by_id = entries.group_by { |entry| entry.row.id }
        @kept = {} # what follows from the attributes, when it is known
        freeze
      end

      # Published ids.
      def ids
        @by_id.keys
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

      # The study, reduced to the conditions that decide the published claims with these ids: of each, those on one side
      # (Claim#decisive). Its other published claims stay, with the reason why they can't be tested. Without ids: those
      # that can be tested with that many server cores.
      def claimed(ids = nil, cores: 0)
        decisive = claims.select(&:published?).map(&:decisive)
        ids ||= decisive.reject { |claim| claim.reason(cores) }.map(&:id)
        needed = decisive.select { |claim| ids.include?(claim.id) }
                         .flat_map { |claim| measured(claim, claim.sides.last).values }
        parts = entries.map { |entry| Entry.new(entry.row, entry.conditions & needed) }
        with(entries: parts.select { |entry| entry.conditions.any? }, claims: decisive, deciding: ids)
      end

      # { figure => the Condition that measures it } for a claim, on one of Claim::SIDES. If that side does not have a
      # figure, it is the first Condition of all.
      def measured(claim, side)
        claim.statements.flat_map(&:figures).to_h do |figure|
          conditions = entries_of(figure.id, figure.columns).flat_map(&:conditions)
          [figure, conditions.find { |condition| condition.side == side } || conditions.first]
        end
      end

      # The Scale for a requested one.
      def scale(asked)
        full_length ? Scale.new(1.0) : asked
      end

      def with(**changes)
        Study.new(**ATTRIBUTES.to_h { |name| [name, public_send(name)] }, **changes)
      end

      # All conditions, each once.
      def conditions
        @kept[:conditions] ||= entries.flat_map(&:conditions).uniq.freeze
      end

      # The A/A control: the Condition that is measured twice, and its copy: the declared one, or the first one, in a
      # closed loop if there is one. Differences between the two are noise. If all conditions are copies, these are the
      # control.
      def control
        single = conditions.select { |condition| condition.copy.nil? && condition.tester.nil? }
        twice = declared_control || single.find { |condition| condition.rate.nil? } || single.first or return copies
        [twice, twice.with(copy: CONTROL)]
      end

      # The name of the metric in which the control is compared. The rate of an open loop is given.
      def control_metric
        return repeated.metric if declared_control

        control.first&.rate ? "p50" : "rate"
      end

      # The lab's load of a condition: each run has as many responses as the percentiles in claims need, and takes at
      # least LEAST.
      def load(condition, scale)
        load = condition.load(scale)
        load.merge("requests" => [load["requests"], least(condition)].max, "least" => LEAST)
      end

      # [claim, figure] of each claim about rows that aren't measured; it could never be decided.
      def unmeasured
        pairs = claims.flat_map { |claim| claim.statements.flat_map(&:figures).map { |figure| [claim, figure] } }
        pairs.reject { |_, figure| entries_of(figure.id, figure.columns).any? { |entry| entry.conditions.any? } }
      end

      # Entries with this id and these columns.
      def entries_of(id, columns = {})
        wanted = columns.to_h { |name, value| [name.to_s, value.to_s] }
        @by_id.fetch(id, []).select { |entry| wanted.all? { |name, value| entry.row[name] == value } }
      end

      private

      # The Condition of the declared control; nil without one, or in a part of the study that doesn't have it.
      def declared_control
        entries_of(repeated.id, repeated.columns).flat_map(&:conditions).first if repeated
      end

      # The number of responses that the percentiles need that claims use for a condition; 0 without such a percentile.
      def least(condition)
        own = condition.copy == CONTROL ? condition.with(copy: nil) : condition
        percentile = percentiles[own]
        percentile ? (BEYOND * 100.0 / (100 - percentile)).ceil : 0
      end

      # { condition => the highest percentile that claims use for it }
      def percentiles
        @kept[:percentiles] ||= begin
          figures = claims.flat_map { |claim| claim.statements.flat_map(&:figures) }.uniq.select(&:percentile)
          pairs = figures.flat_map do |figure|
            entries_of(figure.id, figure.columns).flat_map(&:conditions).product([figure.percentile])
          end
          pairs.group_by(&:first).transform_values { |all| all.map(&:last).max }
        end
      end

      # The first two conditions that differ only in the number of their copy; or none.
      def copies
        alike = conditions.group_by { |condition| condition.with(copy: nil) }.values
        alike.find { |group| group.length > 1 }.to_a.first(2)
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

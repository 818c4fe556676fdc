# frozen_string_literal: true

module Cuttle
  module Studies
    # An experiment as it was published, and how it is made here. Frozen; made by Declaration.
    #
    #   name, title, source, question, design   texts
    #   flaws        what is known to be wrong with the original
    #   app, profile name or path, and its profile, as the lab takes them
    #   cores        how many the servers have, or :all of them: those of the load as well, which then has next to
    #                nothing to do; nil: the lab's own choice, with cores of their own for both
    #   rounds, warmup    as the lab has them
    #   entries      Entry each, in the published order
    #   claims       Claim each
    class Study
      ATTRIBUTES = %i[name title source question design flaws app profile cores rounds warmup entries claims].freeze

      # A published Row, and the Conditions that measure the same: ours first, then the original's server. reason: why there
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

      # Whether a word of the command line asks for it, or for a part of it.
      def meant_by?(word)
        whole?(word) || ids.any? { |id| part?(id, word) } || claims.any? { |claim| part?(claim.id, word) }
      end

      # With no more than the words ask for, and what the claims among that need.
      def only(words)
        return self if words.any? { |word| whole?(word) }

        asked = claims.select { |claim| words.any? { |word| part?(claim.id, word) } }
        needed = asked.flat_map(&:ids)
        kept = entries.select { |entry| needed.include?(entry.row.id) || words.any? { |word| part?(entry.row.id, word) } }
        with(entries: kept, claims: asked)
      end

      def with(**changes)
        Study.new(**ATTRIBUTES.to_h { |name| [name, public_send(name)] }, **changes)
      end

      # All that is to be measured, once each.
      def conditions
        entries.flat_map(&:conditions).uniq
      end

      # [claim, figure] each of what is claimed of rows that aren't measured: it would stay undecided for ever.
      def unmeasured
        pairs = claims.flat_map { |claim| claim.statements.flat_map(&:figures).map { |figure| [claim, figure] } }
        pairs.reject { |_, figure| entries_of(figure.id, figure.columns).any? { |entry| entry.conditions.any? } }
      end

      # Entries with this id and these columns.
      def entries_of(id, columns = {})
        entries.select { |entry| entry.row.id == id && columns.all? { |name, value| entry.row[name.to_s] == value.to_s } }
      end

      private

      def whole?(word)
        word == name || name.start_with?("#{word}-")
      end

      def part?(id, word)
        id == word || id.start_with?("#{word}.")
      end
    end
  end
end

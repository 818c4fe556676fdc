# frozen_string_literal: true

module Cuttle
  module Load
    class Pattern
      # A tree (see Parser) as the steps that the native search takes: [kind, octet, to, other] each.
      class Program
        KINDS = %i[octet set split jump open close assert match].each_with_index.to_h.freeze
        ASSERTIONS = %i[line_begin line_end text_begin text_end text_end_or_line word_edge no_word_edge]
                     .each_with_index.to_h.freeze
        LIMIT = 2048 # steps: PATTERN_STEPS of pattern.h

        attr_reader :steps, :sets, :groups

        def initialize(tree, groups)
          @steps = []
          @sets = []
          @groups = groups
          @tree = tree
          emit(tree)
          add(:match)
        end

        # The octets that every match begins with. The search skips to them.
        def prefix
          leading(@tree).pack("C*")
        end

        private

        def add(kind, octet: 0, to: 0, other: 0)
          raise Parser::Wrong, "too long for the search" if @steps.length >= LIMIT

          @steps << [KINDS.fetch(kind), octet, to, other]
          @steps.length - 1
        end

        def here
          @steps.length
        end

        # Sets the targets of a step. They were unknown when the step was added.
        def aim(step, to, other = nil)
          @steps[step][2] = to
          @steps[step][3] = other if other
        end

        def emit(tree)
          kind, *rest = tree
          send("emit_#{kind}", *rest)
        end

        def emit_octet(octet)
          add(:octet, octet: octet)
        end

        def emit_set(octets)
          bits = Array.new(32, 0)
          octets.each { |octet| bits[octet / 8] |= 1 << (octet % 8) }
          set = bits.pack("C*")
          @sets << set unless @sets.include?(set)
          add(:set, to: @sets.index(set))
        end

        def emit_assert(assertion)
          add(:assert, octet: ASSERTIONS.fetch(assertion))
        end

        def emit_sequence(trees)
          trees.each { |tree| emit(tree) }
        end

        # split one, two; one; jump end; two; end
        def emit_choice(trees)
          *first, last = trees
          jumps = first.map do |tree|
            split = add(:split)
            emit(tree)
            jump = add(:jump)
            aim(split, split + 1, here)
            jump
          end
          emit(last)
          jumps.each { |jump| aim(jump, here) }
        end

        def emit_group(tree)
          add(:open)
          emit(tree)
          add(:close)
        end

        def emit_repeat(tree, least, most, greedy)
          least.times { emit(tree) }
          return emit_loop(tree, greedy) unless most

          splits = Array.new([most - least, 0].max) { add(:split).tap { emit(tree) } }
          splits.each { |split| branch(split, split + 1, here, greedy) }
        end

        def emit_loop(tree, greedy)
          split = add(:split)
          emit(tree)
          aim(add(:jump), split)
          branch(split, split + 1, here, greedy)
        end

        def branch(split, inside, after, greedy)
          greedy ? aim(split, inside, after) : aim(split, after, inside)
        end

        def leading(tree)
          case tree.first
          when :octet then [tree[1]]
          when :group then leading(tree[1])
          when :sequence then leading_of(tree[1])
          else []
          end
        end

        def leading_of(trees)
          trees.each_with_object([]) do |tree, octets|
            octets.concat(leading(tree))
            return octets unless whole?(tree)
          end
        end

        # Whether leading(tree) covers the whole tree.
        def whole?(tree)
          case tree.first
          when :octet then true
          when :group then whole?(tree[1])
          when :sequence then tree[1].all? { |each| whole?(each) }
          end
        end
      end
    end
  end
end

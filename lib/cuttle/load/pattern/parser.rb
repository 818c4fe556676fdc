# frozen_string_literal: true

module Cuttle
  module Load
    class Pattern
      # Reads a regular expression into a tree:
      #
      #   [:octet, 97]  [:set, [octets]]  [:assert, :line_end]
      #   [:sequence, [trees]]  [:choice, [trees]]  [:group, tree]  [:repeat, tree, least, most or nil, greedy]
      #
      # An expression has the same meaning as in Ruby. Unsupported syntax is refused, so that nothing matches
      # unexpectedly.
      class Parser
        # The error in the expression.
        class Wrong < StandardError; end

        DIGITS = [*48..57].freeze
        WORD = [*48..57, *65..90, 95, *97..122].freeze
        SPACE = [9, 10, 11, 12, 13, 32].freeze
        HEX = [*48..57, *65..70, *97..102].freeze
        CLASSES = { "d" => DIGITS, "w" => WORD, "s" => SPACE, "h" => HEX }.freeze
        CONTROLS = { "n" => 10, "r" => 13, "t" => 9, "f" => 12, "v" => 11, "e" => 27 }.freeze
        ASSERTIONS = { "A" => :text_begin, "z" => :text_end, "Z" => :text_end_or_line, "b" => :word_edge,
                       "B" => :no_word_edge }.freeze
        MOST = 1000 # repetitions

        # Returns [tree, number of groups]. flags: a String of i and m. Raises Wrong.
        def self.parse(source, flags)
          raise Wrong, "the flags are i and m" unless flags.match?(/\A[im]*\z/)

          Regexp.new(source) # raises with Ruby's message if it is not valid
          new(source, flags).parse
        rescue RegexpError => error
          raise Wrong, error.message
        end

        def initialize(source, flags)
          @rest = source.b.bytes
          @fold = flags.include?("i")
          @every = flags.include?("m")
          @groups = 0
        end

        def parse
          tree = choice
          raise Wrong, "a ) without its (" if @rest.any?

          [tree, @groups]
        end

        private

        # --- octets ---

        def peek
          @rest.first&.chr
        end

        def take
          @rest.shift&.chr or raise Wrong, "it ends too early"
        end

        def take?(text)
          return false unless @rest.first(text.bytesize).pack("C*") == text.b

          @rest.shift(text.bytesize)
          true
        end

        # --- the grammar ---

        def choice
          branches = [sequence]
          branches << sequence while take?("|")
          branches.length == 1 ? branches.first : [:choice, branches]
        end

        def sequence
          trees = []
          trees << repeated(atom) until peek.nil? || ["|", ")"].include?(peek)
          [:sequence, trees]
        end

        def repeated(tree)
          while (least, most, form = counts)
            raise Wrong, "nothing to repeat" if tree.first == :assert

            tree = [:repeat, tree, least, most, greedy?(form)]
          end
          tree
        end

        # As in Ruby, ? after {n} is another repetition, and so is + after any braces.
        def greedy?(form)
          return true if form == :number
          return false if take?("?")
          raise Wrong, "possessive repetition is not supported" if form == :sign && take?("+")

          true
        end

        # The bounds of a repetition that comes next, and its form, or nil.
        def counts
          return [0, nil, :sign] if take?("*")
          return [1, nil, :sign] if take?("+")
          return [0, 1, :sign] if take?("?")

          braces
        end

        def braces
          match = /\A\{(\d*)(,?)(\d*)\}/.match(@rest.first(12).pack("C*")) or return
          return if match[1].empty? && match[3].empty? # literal braces, as in Ruby

          @rest.shift(match[0].length)
          least = match[1].to_i
          most = match[2].empty? ? least : (match[3].to_i unless match[3].empty?)
          raise Wrong, "more than #{MOST} repetitions" if [least, most.to_i].max > MOST

          [least, most, match[2].empty? ? :number : :range]
        end

        def atom
          case octet = take
          when "(" then group
          when "[" then [:set, bracket]
          when "." then [:set, @every ? [*0..255] : [*0..255] - [10]]
          when "^" then %i[assert line_begin]
          when "$" then %i[assert line_end]
          when "\\" then escape(take)
          else literal(octet.ord)
          end
        end

        def group
          return closed { choice } if take?("?:")
          raise Wrong, "only ( and (?: begin a group" if peek == "?"

          @groups += 1
          [:group, closed { choice }]
        end

        def closed
          tree = yield
          raise Wrong, "a ( without its )" unless take?(")")

          tree
        end

        def escape(letter)
          return [:assert, ASSERTIONS.fetch(letter)] if ASSERTIONS.key?(letter)

          set = class_of(letter) and return [:set, set]
          literal(octet_of(letter))
        end

        # The octets of \d, \W and so on, or nil.
        def class_of(letter)
          set = CLASSES[letter.downcase] or return
          letter == letter.downcase ? set : [*0..255] - set
        end

        # The octet that an escape stands for, if it is one octet.
        def octet_of(letter)
          return CONTROLS.fetch(letter) if CONTROLS.key?(letter)
          return hexadecimal if letter == "x"
          raise Wrong, "\\#{letter} is not supported" if letter.match?(/[0-9A-Za-z]/)

          letter.ord
        end

        def hexadecimal
          digits = @rest.first(2).pack("C*")[/\A\h{1,2}/] or raise Wrong, "\\x without digits"
          @rest.shift(digits.length)
          digits.hex
        end

        def literal(octet)
          return [:octet, octet] unless @fold && octet.chr.match?(/[A-Za-z]/)

          [:set, [octet, octet ^ 32].sort]
        end

        # --- [brackets] ---

        def bracket
          negative = take?("^")
          octets = []
          octets.concat(member) until octets.any? && take?("]")
          octets |= octets.select { |octet| octet.chr.match?(/[A-Za-z]/) }.map { |octet| octet ^ 32 } if @fold
          negative ? [*0..255] - octets : octets.uniq
        end

        def member
          first = single
          return first if first.length > 1 || peek != "-" || @rest[1] == "]".ord

          take
          last = single
          raise Wrong, "a range without an end" unless last.length == 1 && last.first >= first.first

          [*first.first..last.first]
        end

        # The octets of one member.
        def single
          letter = take
          raise Wrong, "[ within [ ] is not supported; write \\[" if letter == "["
          raise Wrong, "&& is not supported" if letter == "&" && peek == "&"
          raise Wrong, "a letter outside ASCII in [ ] is not supported" if letter.ord > 127
          return [letter.ord] unless letter == "\\"

          letter = take
          letter == "b" ? [8] : class_of(letter) || [octet_of(letter)]
        end
      end
    end
  end
end

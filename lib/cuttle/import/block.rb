# frozen_string_literal: true

require "ripper"

module Cuttle
  class Import
    # A block of the other server's file: its text, and the lines of that file that it needs. What can't be copied
    # raises NoEqual.
    class Block
      BY_HAND = "copy it by hand"

      # +block+ was given to +word+. +files+: path => text; +scope+: the object in which the files were evaluated.
      def initialize(block, word, files, scope)
        @block = block
        @word = word
        @files = files
        @scope = scope
      end

      # From the keyword do or the brace to the end of the block. +foreign+: how the constants begin that only the other
      # server has.
      def text(foreign = nil)
        @text ||= find
        stranger = Names.new(@text).constants.find { |name| foreign && name.start_with?(foreign.to_s) }
        raise NoEqual, "its block uses #{stranger}, which Cuttle does not have; copy what you need by hand" if stranger

        @text
      end

      # The lines that have to stand before the block: constants, methods and local variables of the file that it
      # reads, with the values that they had at the end.
      def needs
        Needs.new(@files, @scope, @block.binding).of(text)
      end

      # The number of its arguments.
      def arity = @block.parameters.length

      # Whether the block names one of its parameters again.
      def reads_parameters?
        idents = Names.new(text).all
        @block.parameters.any? { |_, name| idents.count(name) > 1 }
      end

      private

      def find
        path, line = @block.source_location
        raise NoEqual, "its block is not in this file; #{BY_HAND}" if @block.lambda? || !@files.key?(path)

        tokens = Ripper.lex(@files.fetch(path)).drop_while { |(row, _), *| row < line }
        tokens = tokens.drop(tokens.index { |(row, _), kind, text| [row, kind, text] == [line, :on_ident, @word] }.to_i)
        whole(tokens.drop_while { |token| !opening?(token) }.map { |token| token[2] })
      end

      def opening?((_, kind, text)) = kind == :on_lbrace || (kind == :on_kw && text == "do")

      # The text up to the point where the Ruby code is complete.
      def whole(parts)
        text = +""
        parts.each do |part|
          text << part
          return text if %w[end }].include?(part) && !Ripper.sexp("x #{text}").nil?
        end
        raise NoEqual, "its end can't be found; #{BY_HAND}"
      end

      # The names in a piece of Ruby.
      class Names
        # A :: behind one of these, or at the beginning, belongs to a name of the top level (::Puma).
        STARTS = %i[on_sp on_nl on_ignored_nl on_lparen on_lbracket on_lbrace on_embexpr_beg on_comma on_op].freeze

        def initialize(text)
          tokens = [nil, *Ripper.lex(text)].each_cons(2).reject { |before, token| top?(before, token) }.map(&:last)
          @tokens = tokens.reject { |_, kind,| %i[on_sp on_ignored_nl].include?(kind) }
        end

        # The names of local variables, and of methods without a receiver, as often as they occur.
        def all = pick(:on_ident, %w[. &.])
        def constants = pick(:on_const, %w[. &. ::]).uniq

        private

        def top?(before, (_, _, text)) = text == "::" && (before.nil? || STARTS.include?(before[1]))

        def pick(kind, not_after)
          [nil, *@tokens].each_cons(2).filter_map do |before, (_, found, text)|
            text.to_sym if found == kind && !not_after.include?(before&.at(2))
          end
        end
      end

      # The definitions that a piece of Ruby needs. Definitions that others need come first.
      class Needs
        def initialize(files, scope, binding)
          @files = files
          @scope = scope
          @binding = binding
          @seen = []
        end

        # [line or several, …]
        def of(text)
          names = Names.new(text)
          [*constants(names), *methods(names), *locals(names)]
        end

        private

        def constants(names)
          own = @scope.singleton_class
          (names.constants & own.constants(false)).map do |name|
            "#{name} = #{Import.literal(own.const_get(name), name)}"
          end
        end

        # Methods see no local variables, but other methods.
        def methods(names)
          (names.all.uniq & @scope.singleton_methods(false) - @seen).flat_map do |name|
            @seen << name
            text = definition(name)
            inner = Names.new(text)
            [*constants(inner), *methods(inner), text]
          end
        end

        def locals(names)
          (names.all.uniq & @binding.local_variables).map do |name|
            "#{name} = #{Import.literal(@binding.local_variable_get(name), name)}"
          end
        end

        def definition(name)
          path, line = @scope.method(name).source_location
          file = @files.fetch(path) { raise NoEqual, "its block calls #{name}; #{BY_HAND}" }
          text = +""
          file.lines.drop(line - 1).each do |part|
            text << part
            return text.chomp unless Ripper.sexp(text).nil?
          end
        end
      end
      private_constant :Names, :Needs
    end
  end
end

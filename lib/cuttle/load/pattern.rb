# frozen_string_literal: true

module Cuttle
  module Load
    # The pattern to search for in a body: a text, or a regular expression. The native threads search without Ruby, so
    # an expression is compiled into steps (ext/cuttle_load/pattern.h). Only expressions that such steps can express are
    # allowed: no backreferences, no lookaround. It matches octets: a letter outside ASCII is several octets.
    class Pattern
      autoload :Parser, "cuttle/load/pattern/parser"
      autoload :Program, "cuttle/load/pattern/program"

      SLASHED = %r{\A/(.+)/([a-z]*)\z}m

      attr_reader :source, :prefix

      # "a text", or "/an expression/" with the flags i and m. Raises UsageError.
      def self.read(source)
        raise UsageError, "check: a text or /a regular expression/, not #{source.inspect}" unless source.is_a?(String)

        expression, flags = SLASHED.match(source)&.captures
        expression ? new(source, expression, flags) : new(source)
      end

      # An expression without slashes around it. Raises UsageError.
      def self.expression(source)
        raise UsageError, "take: a regular expression, not #{source.inspect}" unless source.is_a?(String)

        new(source, source)
      end

      def initialize(source, expression = nil, flags = "")
        @source = source
        @program = Program.new(*Parser.parse(expression, flags)) if expression
        @prefix = @program ? @program.prefix : source.b
        raise UsageError, "check: an empty text" if source.empty?
      rescue Parser::Wrong => error
        raise UsageError, "#{source}: #{error.message}"
      end

      # The number of its groups whose text is taken.
      def groups
        @program ? @program.groups : 0
      end

      # The form that the native part reads (rb_pattern.c).
      def to_core
        { prefix: prefix, steps: @program ? @program.steps : [], sets: @program ? @program.sets : [] }
      end
    end
  end
end

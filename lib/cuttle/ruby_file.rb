# frozen_string_literal: true

module Cuttle
  # Ruby that a user wrote and that we evaluate: a rackup file, a configuration file. An error in it becomes one line
  # with its place; the exception itself is the cause of that error.
  module RubyFile
    class << self
      # The value of the block, which evaluates +file+. Raises Error.
      def evaluating(file)
        yield
      rescue Error
        raise # says where already
      rescue StandardError, ScriptError => error
        raise Error, describe(error, file)
      end

      private

      # "config.ru:3: undefined local variable or method `x' (NameError)"
      def describe(error, file)
        first, = error.message.lines.map(&:strip).reject(&:empty?)
        return first.to_s if error.is_a?(SyntaxError)

        place = error.backtrace&.find { |line| line.start_with?("#{file}:") } || error.backtrace&.first.to_s
        "#{place[/\A.+?:\d+/] || file}: #{first} (#{error.class})"
      end
    end
  end
end

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

# Evaluates the Ruby +text+ of the file +path+ with +object+ as self: within(object, text, path). It is defined outside
# of the modules, and names nothing, so that the file finds no constant of ours in place of its own (Rack, Settings) and
# no local variable.
def (Cuttle::RubyFile).within(...)
  BasicObject.instance_method(:instance_eval).bind_call(...)
end

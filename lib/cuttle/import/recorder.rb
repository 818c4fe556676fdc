# frozen_string_literal: true

require "ripper"

module Cuttle
  class Import
    # Evaluates the configuration file of another server and notes what it says, in order.
    class Recorder
      # One word of the file. +source+ is the text of its block, with the keyword do or the brace, or nil.
      Call = Struct.new(:word, :arguments, :place, :source)

      # Stands for the constant ENV in the file, and notes which line reads what.
      class Environment < BasicObject
        # Methods that look at one variable, and those whose arguments are all names.
        ONE = %i[[] fetch key? has_key? include? member? assoc].freeze
        SEVERAL = %i[values_at slice].freeze

        def initialize(&note)
          @note = note
        end

        def method_missing(name, *arguments, &block)
          names = ONE.include?(name) ? arguments.first(1) : ["ENV.#{name}"]
          (SEVERAL.include?(name) ? arguments : names).each(&@note)
          ::ENV.public_send(name, *arguments, &block)
        end

        def respond_to_missing?(...) = ::ENV.respond_to?(...)
      end

      # [Call, …], and { place => [name of a variable, …] }.
      attr_reader :calls, :readings

      # +words+ answers to known?(word), and to answer(word): what the file gets for a word that it asks for a value.
      def initialize(path, words)
        @path = path
        @words = words
        @calls = []
        @readings = {}
      end

      # Raises Error.
      def run
        raise Error, "no file #{@path}" unless File.file?(@path)

        text = File.read(@path)
        @lines = text.lines
        RubyFile.evaluating(@path) { file.instance_eval(text, @path) }
      rescue SystemCallError => error
        raise Error, "can't read #{@path}: #{error.class.new.message}"
      end

      # Notes a call that came from the file.
      def note(word, arguments, block)
        @calls << Call.new(word.to_s, arguments, place, (source(block) if block))
        nil
      end

      def known?(word) = @words.known?(word.to_s)

      private

      # The object in which the file is evaluated: constants are looked for in its class first.
      def file
        recorder = self
        Class.new do
          const_set(:ENV, Environment.new { |name| recorder.send(:read, name) })
          recorder.send(:constants).each { |name, value| const_set(name, value) }
          define_method(:method_missing) do |word, *arguments, &block|
            recorder.known?(word) ? recorder.note(word, arguments, block) : super(word, *arguments, &block)
          end
          define_method(:respond_to_missing?) { |word, _all = false| recorder.known?(word) }
          recorder.send(:overridden).each do |word|
            define_method(word) { |*arguments, &block| recorder.note(word, arguments, block) }
          end
        end.new
      end

      def constants = @words::CONSTANTS

      # Words that every object of Ruby would answer to.
      def overridden
        @words::WORDS.keys.map(&:to_sym).select { |word| Object.new.respond_to?(word, true) }
      end

      def read(name)
        names = @readings[place] ||= []
        names << name.to_s unless names.include?(name.to_s)
      end

      def place
        line = caller_locations.find { |location| location.path == @path }
        "#{@path}:#{line&.lineno}"
      end

      # The text of a block: from its keyword to where the Ruby is complete.
      def source(block)
        first = block.source_location.last - 1
        text = +""
        @lines[first..].each do |line|
          text << line
          break unless Ripper.sexp(text).nil?
        end
        " #{text[/(?:\bdo\b|\{).*\z/m].chomp}"
      end
    end
  end
end

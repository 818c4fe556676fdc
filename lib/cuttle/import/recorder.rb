# frozen_string_literal: true

module Cuttle
  class Import
    # Evaluates the configuration file of another server and records its words, in order.
    class Recorder
      # One word of the file. +block+ is a Block or nil.
      Call = Struct.new(:word, :arguments, :place, :block)

      # Stands for the constant ENV in the file, and records which line reads which variable.
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

      # Stands for an object that only the other server has. The file may call anything on it. Records where it does.
      class Foreign < Module
        def initialize(&note)
          super(&nil)
          define_singleton_method(:method_missing) { |*, **, &_block| tap(&note) }
          define_singleton_method(:respond_to_missing?) { |*| true }
          define_singleton_method(:const_missing) { |_| tap(&note) }
        end
      end

      # [Call, …]; { place => [name of a variable, …] }; the places where the file uses what only its server has; the
      # lines with which it loads libraries.
      attr_reader :calls, :readings, :strange, :libraries

      # +words+ has the constants CONSTANTS (those of the file), FOREIGN (names of constants and variables that only the
      # other server has), RUN (words that the recorder obeys: name => a Proc of it, the arguments and the block) and
      # WORDS, and answers to known?(word).
      def initialize(path, words)
        @path = path
        @words = words
        @calls = []
        @readings = {}
        @strange = []
        @libraries = []
        @files = {}
        @queue = [path]
        @later = []
      end

      # Raises Error.
      def run
        while (@current = @queue.shift)
          read
          RubyFile.evaluating(@current) { RubyFile.within(file, @files[@current], @current) }
        end
        RubyFile.evaluating(@path) { @later.each(&:call) }
      end

      # Reads another file after those that are being read.
      def load(path)
        @queue << path
        nil
      end

      # Evaluates the block as a part of the file.
      def inject(block)
        file.instance_exec(&block)
      end

      # The same at the end, if +condition+ holds then.
      def inject_later(block, &condition)
        @later << -> { inject(block) if condition.call }
        nil
      end

      # Records a call from the file, or obeys it. Returns the value for the file.
      def note(word, arguments, block)
        return @words::RUN[word].call(self, arguments, block) if @words::RUN.key?(word)

        @calls << Call.new(word, arguments, place, block && Block.new(block, word, @files, file))
        nil
      end

      # The text of a line that was read: +place+ is one of #readings.
      def source(place)
        path, _, number = place.rpartition(":")
        @files.fetch(path).lines.fetch(number.to_i - 1).strip
      end

      def known?(word) = @words.known?(word.to_s)

      # Loads a library as the file does; not one of the other server's. +path+ is for require_relative.
      def library(name, path = nil)
        return if name.match?(/\A#{@words::FOREIGN.first}/i)

        @libraries |= [path ? "require File.expand_path(#{shortened(path).inspect})" : "require #{name.inspect}"]
        Kernel.require(path || name)
      end

      private

      def read
        raise Error, "no file #{@current}" unless File.file?(@current)

        @files[@current] = File.read(@current)
      rescue SystemCallError => error
        raise Error, "can't read #{@current}: #{error.class.new.message}"
      end

      # Our files are read in the directory in which the server starts.
      def shortened(path)
        path.delete_prefix("#{Dir.pwd}/")
      end

      # The object in which the file is evaluated.
      def file
        @file ||= scope.new.tap do |object|
          @words::FOREIGN.grep(/\A@/) { |name| object.instance_variable_set(name, stranger) }
        end
      end

      def scope
        recorder = self
        constants = self.constants
        words = overridden
        Class.new do
          constants.each { |name, value| const_set(name, value) }
          define_method(:method_missing) do |word, *arguments, &block|
            recorder.known?(word) ? recorder.note(word.to_s, arguments, block) : super(word, *arguments, &block)
          end
          define_method(:respond_to_missing?) { |word, _all = false| recorder.known?(word) }
          words.each { |word| define_method(word) { |*arguments, &block| recorder.note(word, arguments, block) } }
          define_method(:require) { |name| recorder.library(name) }
          define_method(:require_relative) { |name| recorder.library(name, recorder.send(:beside, name)) }
        end
      end

      def constants
        environment = Environment.new { |name| reads(name) }
        { ENV: environment, **@words::CONSTANTS, **@words::FOREIGN.grep(/\A[A-Z]/).to_h { |name| [name, stranger] } }
      end

      # Words that every object of Ruby would answer to.
      def overridden
        (@words::WORDS.keys + @words::RUN.keys).select { |word| Object.new.respond_to?(word, true) }
      end

      def stranger
        @stranger ||= Foreign.new { @strange |= [place] }
      end

      def reads(name)
        names = @readings[place] ||= []
        names << name.to_s unless names.include?(name.to_s)
      end

      def beside(name)
        File.expand_path(name, File.dirname(line.path))
      end

      def place
        "#{line&.path || @path}:#{line&.lineno}"
      end

      def line
        caller_locations.find { |location| @files.key?(location.path) }
      end
    end
  end
end

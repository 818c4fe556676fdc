# frozen_string_literal: true

module Cuttle
  class Configuration
    # What a configuration file may say: a word for each setting of Settings::TABLE, with an argument as its flag has
    # one, and the words below. A file is evaluated in such an object. Where Puma has a word that means the same, that
    # word is understood.
    class Words
      # The words that are made from the table.
      module Table
        Settings::TABLE.each do |row|
          row.words.each do |word|
            if row.kind == :on_off
              define_method(word) { |value = true| @configuration.set(row, value, place, word) }
            else
              define_method(word) { |value| @configuration.set(row, value, place, word) }
            end
          end
        end
      end
      include Table

      # Whether a file may say +word+.
      def self.understands?(word)
        (instance_methods(false) | Table.instance_methods(false)).include?(word.to_sym)
      end

      def initialize(configuration)
        @configuration = configuration
      end

      # Threads of each process: threads 5, threads 1, 5.
      def threads(least, most = nil)
        @configuration.set(Settings.row(:threads), [least, most].compact.join(":"), place)
      end

      # A TCP port, and the address to listen on if it is not the default.
      def port(number, host = nil)
        return bind("tcp://#{host.include?(":") ? "[#{host}]" : host}:#{number}") if host

        if @configuration.values.key?(:port)
          raise UsageError, "#{place}: port has a value from #{@configuration.places[:port]}; use bind for a second one"
        end

        @configuration.set(Settings.row(:port), number, place)
      end

      # The Rack app, as an object or a block.
      def app(object = nil, &block)
        raise UsageError, "#{place}: app: give an object that responds to call, or a block" unless object || block

        @configuration.app = object || block
      end

      # Reads another file, whose path is relative to the working directory.
      def load(path)
        @configuration.read(path)
      end

      private

      # The line of the file that says it.
      def place
        files = @configuration.files
        line = caller_locations.find { |location| files.include?(File.expand_path(location.path)) }
        "#{line.path}:#{line.lineno}"
      end

      def method_missing(word, *)
        raise UsageError, ["#{place}: unknown word #{word}", similar(word)].compact.join(": did you mean ")
      end

      def respond_to_missing?(*)
        false
      end

      def similar(word)
        return unless defined?(DidYouMean::SpellChecker)

        known = (Words.instance_methods(false) | Table.instance_methods(false)).map(&:to_s)
        DidYouMean::SpellChecker.new(dictionary: known).correct(word.to_s).first&.then { |found| "#{found}?" }
      end
    end
  end
end

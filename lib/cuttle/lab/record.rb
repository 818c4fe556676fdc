# frozen_string_literal: true

module Cuttle
  module Lab
    # A JSON object of the results file, with a reader for each of its known keys. Unknown ones (of later versions)
    # are at []. Frozen throughout; equal by content. Hashes within keep their keys as Strings.
    class Record
      # A class of records with readers for +keys+.
      def self.of(*keys)
        Class.new(self) do
          keys.each { |key| define_method(key) { @hash[key.to_s] } }
        end
      end

      # +hash+: keys Strings, as JSON has them.
      def initialize(hash)
        @hash = hash.freeze
        freeze
      end

      def [](key)
        @hash[key.to_s]
      end

      # As it is in the file.
      def to_h
        @hash
      end

      def ==(other)
        other.class == self.class && other.to_h == to_h
      end
      alias eql? ==

      def hash
        @hash.hash
      end
    end
  end
end

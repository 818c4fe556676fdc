# frozen_string_literal: true

module Cuttle
  module Http
    # What all field values have in common (RFC 9110, 5.5 and 5.6). The time is linear in the octets: an unanchored
    # [ \t]+\z would look at each space of a run as often as there are spaces before it.
    module FieldValue
      OTHER = /[^ \t]/n # than optional white space
      private_constant :OTHER

      # The value without the spaces and tabs around it (RFC 9110, 5.6.3). Other control characters stay.
      def self.trim(value)
        first = value.index(OTHER) or return value[0, 0]
        value[first..value.rindex(OTHER)]
      end

      # The elements of a list. Empty ones don't count (RFC 9110, 5.6.1).
      def self.elements(list)
        list.split(",").map { |element| trim(element) }.reject(&:empty?)
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Listeners
    # unix://@name: a Unix socket that has a name in Linux' abstract namespace instead of a file. The kernel frees the
    # name with the socket. Permissions don't count: every process of the same network namespace may connect.
    class Abstract < Unix
      FORM = %r{\Aunix:(?://)?@}

      OPTIONS = %w[backlog proxy_protocol].freeze

      # Raises ArgumentError, which says what to give.
      def initialize(uri)
        super
        raise ArgumentError, "give a name: unix://@name" if @given == "@"
        raise ArgumentError, "only Linux has sockets without a file: give unix:///path" unless RUBY_PLATFORM["linux"]
      end

      private

      def ours?(listener)
        listener.uri.b == Unix.uri(path).b
      end

      def identity = nil
      def path = "\0#{@given.delete_prefix("@")}"
      def claim = bind
      def taken = "another process listens there"
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Listeners
    # ssl://host:port?cert=FILE&key=FILE: a TCP socket whose connections speak TLS. The names of the options are Puma's,
    # but for min_version. cert and key may be repeated, in pairs; a pair serves the names of its certificate.
    class Ssl < Tcp
      FORM = %r{
        \A(?<bind>ssl://(?:\[(?<v6>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?<host>[^\[\]:/?\#@\s]+)):(?<port>\d{1,5}))
        (?:\?(?<options>[^\#\s]*))?\z
      }x

      OPTIONS = [*Tcp::OPTIONS, *Tls::OPTIONS].freeze

      # The Tls that secures the connections.
      attr_reader :tls

      # Raises ArgumentError, which says what to give.
      def initialize(uri)
        super
        @tls = Tls.new(@bind, **@options.slice(*Tls::OPTIONS.map(&:to_sym)))
      end

      # A socket that was already open gets the options of this URI.
      def adopt(inherited)
        super
        @listeners.each { |listener| secure(listener) }
      end

      private

      def form = FORM
      def names = OPTIONS
      def example = "ssl://host:port?cert=FILE&key=FILE"

      def listener(address)
        secure(super)
      end

      def secure(listener)
        listener.uri = listener.uri.sub(/\Ahttp:/, "https:")
        listener.tls = @tls
        listener
      end
    end
  end
end

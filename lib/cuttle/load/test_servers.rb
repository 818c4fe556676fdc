# frozen_string_literal: true

module Cuttle
  module Load
    # Servers with known faults, for testing the generator: native threads of this process (server.h).
    #
    #   TestServers.open(:null) { |server| Load.run(server.url, duration: 1) }
    module TestServers
      ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"
      DEFAULTS = { manner: :answer, answer: ANSWER, delays: [], freeze_at: 0, freeze: 0 }.freeze

      # Name => its differences from DEFAULTS.
      KINDS = {
        null: {},
        closing: { manner: :close, answer: "" },
        resetting: { manner: :reset, answer: "" },
        truncating: { manner: :close, answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n" },
        short: { manner: :close, answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nHello" },
        long: { answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello, world!" },
        silent: { manner: :silence },
        babbling: { answer: "SSH-2.0-OpenSSH_9.2\r\n" },
        missing: { answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" },
        failing: { answer: "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n" }
      }.freeze

      # A TestServer that knows its URL.
      class Known < TestServer
        # delays: seconds, used in turn. freeze_at and freeze: seconds.
        def initialize(kind = :null, delays: [], freeze_at: 0, freeze: 0, **options)
          super()
          start(DEFAULTS.merge(KINDS.fetch(kind), options, delays: delays.map { |delay| nanoseconds(delay) },
                                                           freeze_at: nanoseconds(freeze_at),
                                                           freeze: nanoseconds(freeze)))
        end

        def url
          "http://127.0.0.1:#{port}/"
        end

        private

        def nanoseconds(seconds)
          (seconds * 1e9).round
        end
      end

      module_function

      # Yields a Known server and closes it at the end. Returns the block's value.
      def open(kind = :null, **options)
        server = Known.new(kind, **options)
        yield server
      ensure
        server&.close
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # A request as a Rack env (Rack SPEC, The Environment). Values that recur are frozen and shared; the app owns the
      # others. All are binary and have every octet as it was sent.
      class Env
        KEYS = 1_024 # field names whose keys are kept
        SPECIAL = %w[version content-type content-length transfer-encoding].freeze
        LOOPBACK = "127.0.0.1"
        UNKNOWN = "0.0.0.0"

        # The address of a socket's peer; 127.0.0.1 on a Unix socket. If the peer has reset the connection, so that only
        # its request can be read, 0.0.0.0: no app may take it for a client on its own machine.
        def self.remote_address(socket)
          address = socket.remote_address
          address.ip? ? -address.ip_address : LOOPBACK
        rescue SystemCallError, SocketError
          UNKNOWN
        end

        # +model+: the Hash that each env starts as; +listener+: the first one, for requests without an authority;
        # +limits+: the Limits; +trust+: whether any peer is trusted
        def initialize(model, listener, limits:, trust:)
          @model = model
          @underscores = limits.underscore_headers
          @early_hints = limits.early_hints
          @trust = trust
          @local_name, @local_port = local(listener)
          @keys = {}.freeze
        end

        # The env of an exchange's request. +address+: the client's; +queued+: seconds that it waited for a thread;
        # +input+: its body or nil.
        def build(exchange, wire, address, queued, input)
          env = @model.dup
          head = exchange.head
          request(env, exchange, head, address)
          authority(env, head, @trust && secure?(wire, head))
          fields(env, head.fields, wire)
          start = head.fields.find { |name, value| name.casecmp?("x-request-start") && !value.empty? }&.last
          env["cuttle.queue_time"] = (start && RequestStart.age(start)) || queued
          body(env, head, input)
          env
        end

        private

        # The first listener's name and port.
        def local(listener)
          address = listener.respond_to?(:local_address) && listener.local_address
          address && address.ip? ? [-address.ip_address, address.ip_port.to_s.freeze] : %w[localhost 80]
        end

        def request(env, exchange, head, address)
          env["REQUEST_METHOD"] = -head.http_method
          env["PATH_INFO"] = head.path.empty? ? without_path(head) : head.path
          env["QUERY_STRING"] = head.query.to_s
          env["REQUEST_URI"] = head.target
          env["SERVER_PROTOCOL"] = head.minor.zero? ? "HTTP/1.0" : "HTTP/1.1"
          env["REMOTE_ADDR"] = address
          env["rack.hijack"] = env["cuttle.ledger"] = exchange
          env["rack.early_hints"] = exchange if @early_hints
          env["rack.response_finished"] = []
          env["rack.after_reply"] = []
        end

        # RFC 9110, 4.2.3: an empty path means "/". With OPTIONS and no query it means the server, as "*" does.
        def without_path(head)
          head.http_method == "OPTIONS" && !head.query ? +"*" : +"/"
        end

        # Whether a trusted proxy says that the client speaks TLS with it.
        def secure?(wire, head)
          scheme = Forwarded.scheme(head.fields) if wire.trusted?
          scheme ? scheme == "https" : wire.secure?
        end

        def authority(env, head, secure)
          env["rack.url_scheme"] = "https" if secure
          return env.update("SERVER_NAME" => @local_name, "SERVER_PORT" => @local_port) if head.host.to_s.empty?

          env["SERVER_NAME"] = head.host
          env["SERVER_PORT"] = head.port.empty? ? (secure ? "443" : "80") : head.port
          env["HTTP_HOST"] = head.port.empty? ? head.host.dup : "#{head.host}:#{head.port}"
        end

        # RFC 9110, 5.3: fields of one name form one list. Cookies are joined as in RFC 6265, 5.4.
        def fields(env, fields, wire)
          fields = fields.reject { |name, _| hides?(name, wire) } if @trust
          plain, underscored = fields.partition { |name, _| !name.include?("_") }
          plain.each { |name, value| field(env, name, value) }
          return unless @underscores

          # They could imitate other fields: X_Remote_User looks like X-Remote-User, which has priority.
          added = {}
          underscored.reject! { |name, _| SPECIAL.include?(name.downcase.tr("_", "-")) }
          underscored.each { |name, value| field(added, name, value) }
          env.update(added) { |_, before, _| before }
        end

        # Whether the app must not see a field: only a proxy may say who its client is, and never in a name with an
        # underscore.
        def hides?(name, wire)
          (!wire.trusted? || name.include?("_")) && Forwarded.name?(name)
        end

        def field(env, name, value)
          lower = name.downcase
          return env["CONTENT_TYPE"] = value if lower == "content-type"
          return if lower == "host" || SPECIAL.include?(lower)

          key = key(lower)
          before = env[key]
          env[key] = before ? "#{before}#{key == "HTTP_COOKIE" ? "; " : ", "}#{value}" : value
        end

        def key(lower)
          @keys.fetch(lower) do
            key = -"HTTP_#{lower.upcase.tr("-", "_")}".encode(Encoding::US_ASCII)
            @keys = @keys.merge(lower => key).freeze if @keys.size < KEYS # threads that read it see one or the other
            key
          end
        end

        def body(env, head, input)
          if input
            env["rack.input"] = input.first
            env["CONTENT_LENGTH"] = input.last.to_s
          elsif head.fields.any? { |name, _| name.casecmp?("content-length") }
            env["CONTENT_LENGTH"] = +"0"
          end
        end
      end
    end
  end
end

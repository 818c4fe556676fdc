# frozen_string_literal: true

module Cuttle
  class Import
    module Puma
      # Puma's options for TLS, in URIs and in ssl_bind. Most have ours by the same name.
      module Tls
        SAME = %w[cert key ca verify_mode ssl_cipher_filter ssl_ciphersuites no_tlsv1 no_tlsv1_1 backlog
                  low_latency].freeze

        # Option => why it has no equivalent.
        OTHERS = {
          "cert_pem" => "write the certificate to a file and name it with cert",
          "key_pem" => "write the key to a file and name it with key",
          "key_password_command" => "write the key without a password to a file that only the server's user may read",
          "key_password" => "write the key without a password to a file that only the server's user may read",
          "reuse" => "sessions are always resumed; leave it out",
          "verification_flags" => "has no equivalent; leave it out",
          "keystore" => "is for JRuby; take cert and key", "keystore-pass" => "is for JRuby; take cert and key"
        }.freeze

        class << self
          # +uri+ if each of its options has an equal. Raises NoEqual.
          def checked(uri)
            return uri unless uri.start_with?("ssl:")

            query = uri.split("?", 2)[1] or
              raise NoEqual, "ssl:// without cert: take ssl://host:port with --dev-tls (dev_tls true)"
            query.split("&").each { |pair| check(pair.split("=", 2).first) }
            uri
          end

          # The URI for ssl_bind. Raises NoEqual.
          def uri(host, port, options)
            pairs = options.to_h.compact.map do |name, value|
              check(name.to_s)
              "#{name}=#{encode(value)}"
            end
            "ssl://#{host.include?(":") && !host.start_with?("[") ? "[#{host}]" : host}:#{port}?#{pairs.join("&")}"
          end

          private

          def check(name)
            return if SAME.include?(name)

            raise NoEqual, "#{name}: #{OTHERS.fetch(name, "has no equivalent; leave it out")}"
          end

          def encode(value)
            value.to_s.b.gsub(%r{[^\w/.+:!@,=-]}) { |octet| format("%%%02X", octet.ord) }
          end
        end
      end
    end
  end
end

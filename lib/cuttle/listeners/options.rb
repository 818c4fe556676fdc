# frozen_string_literal: true

module Cuttle
  class Listeners
    # What may follow the ? of a URI: backlog=512&mode=0660. The names are Puma's, but for
    # reuse_port, proxy_protocol and min_version:
    #
    #   backlog         connections that the kernel holds
    #   umask, mode     of a Unix socket's file; octal
    #   reuse_port      whether other servers may listen on the same address (SO_REUSEPORT)
    #   proxy_protocol  whether a trusted peer's connection begins with a PROXY header (--proxy-protocol)
    #   low_latency     has no effect, for what there is to send is always sent at once
    #
    # Of ssl:// only; %20 stands for a blank:
    #
    #   cert, key           files in PEM: a certificate with its chain, and its key (in the same file, if none is named)
    #   ca                  a file with the certificates of those who sign clients' certificates
    #   verify_mode         whether clients show a certificate: none, peer (if they have one) or force_peer
    #   min_version         the oldest version of TLS
    #   ssl_cipher_filter   ciphers for TLS 1.2, as OpenSSL writes them
    #   ssl_ciphersuites    the same for TLS 1.3
    #   no_tlsv1, no_tlsv1_1  have no effect, for these versions are never spoken
    module Options
      SWITCHES = { "true" => true, "false" => false }.freeze

      FILE = ["a file", :text].freeze
      CIPHERS = ["names as OpenSSL writes them", :text].freeze

      # Options that may be repeated. Their values are Arrays.
      REPEATED = %w[cert key].freeze

      # Name => what its value may be; the range of a number, :octal, nil for a switch, the words, or :text for any.
      KINDS = {
        "backlog" => ["a number from 1 to 65535", 1..65_535],
        "umask" => ["an octal number, such as 0117", :octal],
        "mode" => ["an octal number, such as 0660", :octal],
        "reuse_port" => ["true or false", nil],
        "proxy_protocol" => ["true or false", nil],
        "low_latency" => ["true or false", nil],
        "cert" => FILE, "key" => FILE, "ca" => FILE,
        "verify_mode" => ["none, peer or force_peer", %w[none peer force_peer]],
        "min_version" => ["1.2 or 1.3", %w[1.2 1.3]],
        "ssl_cipher_filter" => CIPHERS, "ssl_ciphersuites" => CIPHERS,
        "no_tlsv1" => ["true or false", nil], "no_tlsv1_1" => ["true or false", nil]
      }.freeze

      class << self
        # The values in +text+ (nil: none) by name, if their names are among +names+. Raises ArgumentError, which says
        # what to give.
        def parse(text, names)
          text.to_s.split("&").each_with_object({}) do |pair, found|
            name, value = pair.split("=", 2)
            raise ArgumentError, "unknown #{name}: give #{names.join(", ")}" unless names.include?(name)

            value = value(name, value)
            REPEATED.include?(name) ? (found[name.to_sym] ||= []) << value : found[name.to_sym] = value
          end
        end

        private

        def value(name, text)
          form, kind = KINDS.fetch(name)
          value = convert(text.to_s, kind)
          raise ArgumentError, "#{name}: give #{form}" if value.nil?

          value
        end

        def convert(text, kind)
          case kind
          when nil then SWITCHES[text]
          when :text then decode(text) unless text.empty?
          when Range then number(text, 10, kind)
          when :octal then number(text, 8, 0..0o777)
          else kind.find { |word| word == text }
          end
        end

        def number(text, base, range)
          value = Integer(text, base, exception: false)
          value if value && range.cover?(value)
        end

        # A + is one: names of ciphers have it.
        def decode(text)
          text.gsub(/%(\h\h)/) { $1.hex.chr }.force_encoding(Encoding::UTF_8)
        end
      end
    end
  end
end

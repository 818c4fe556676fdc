# frozen_string_literal: true

module Cuttle
  module Http
    module Parsers
      class Pure
        # Request targets (RFC 9112, 3.2) and authorities (RFC 3986, 3.2).
        module Target
          ABSOLUTE = %r{\Ahttps?://([^/?]+)(.*)\z}in
          AUTHORITY = /\A(\[[^\]]*\]|(?:[#{Syntax::HOST.delete("%")}]|%\h\h)*)(?::(\d*))?\z/n
          FUTURE_ADDRESS = /\Av\h+\.[#{Syntax::HOST.delete("%")}:]+\z/in
          V4_ADDRESS = /\A(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!\z)|\z)){4}\z/n
          private_constant :ABSOLUTE, :AUTHORITY, :FUTURE_ADDRESS, :V4_ADDRESS

          class << self
            # [path, query, host, port] of a target; nil for parts that it does not have.
            def parse(method, target)
              raise ParseError.new("no tunnels", status: 501) if method == "CONNECT"
              return split(target) if target.start_with?("/")
              return [target.dup] if target == "*" && method == "OPTIONS"

              host_and_port, rest = target.match(ABSOLUTE)&.captures
              host, port = authority(host_and_port) if host_and_port
              raise ParseError, "the request target is malformed" if host.nil? || host.empty?

              split(rest) + [host, port]
            end

            # [host, port] of a target's authority or of a Host field's value, which may be empty (RFC 9112, 3.2). port
            # is "" if there is none. User information is an error (RFC 9110, 4.2.4).
            def authority(text)
              host, port = text.match(AUTHORITY)&.captures
              return [host, port || ""] if host && valid_host?(host, port) && (port || "").to_i <= 65_535

              raise ParseError, "the authority is malformed"
            end

            private

            def split(target)
              path, mark, query = target.partition("?")
              [path, mark.empty? ? nil : query]
            end

            def valid_host?(host, port)
              return !host.empty? || port.nil? unless host.start_with?("[")

              address = host[1...-1]
              FUTURE_ADDRESS.match?(address) || v6_address?(address)
            end

            # Eight groups. One run of them may be "::". The last two may be written as an IPv4 address.
            def v6_address?(text)
              before, gap, after = text.partition("::")
              left = groups(before, last: gap.empty?)
              right = groups(after, last: true)
              return false unless left && right

              gap.empty? ? left == 8 : left + right <= 7
            end

            # The number of groups; nil if one is malformed.
            def groups(text, last:)
              parts = text.split(":", -1)
              v4 = last && V4_ADDRESS.match?(parts.last || "") ? parts.pop : nil
              parts.size + (v4 ? 2 : 0) if parts.all? { |part| part.match?(/\A\h{1,4}\z/n) }
            end
          end
        end
      end
    end
  end
end

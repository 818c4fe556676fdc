# frozen_string_literal: true

module Cuttle
  class Listeners
    # What may follow the ? of a URI: backlog=512&mode=0660. The names are Puma's, but for
    # reuse_port and proxy_protocol:
    #
    #   backlog         connections that the kernel holds
    #   umask, mode     of a Unix socket's file; octal
    #   reuse_port      whether other servers may listen on the same address (SO_REUSEPORT)
    #   proxy_protocol  whether a trusted peer's connection begins with a PROXY header (--proxy-protocol)
    #   low_latency     has no effect, for what there is to send is always sent at once
    module Options
      SWITCHES = { "true" => true, "false" => false }.freeze

      # Name => what its value may be; base and range of a number, nil for a switch.
      KINDS = {
        "backlog" => ["a number from 1 to 65535", [10, 1..65_535]],
        "umask" => ["an octal number, as 0117", [8, 0..0o777]],
        "mode" => ["an octal number, as 0660", [8, 0..0o777]],
        "reuse_port" => ["true or false", nil],
        "proxy_protocol" => ["true or false", nil],
        "low_latency" => ["true or false", nil]
      }.freeze

      class << self
        # The values in +text+ (nil: none) by name, if their names are among +names+. Raises ArgumentError, which says
        # what to give.
        def parse(text, names)
          text.to_s.split("&").to_h do |pair|
            name, value = pair.split("=", 2)
            raise ArgumentError, "unknown #{name}: give #{names.join(", ")}" unless names.include?(name)

            [name.to_sym, value(name, value)]
          end
        end

        private

        def value(name, text)
          form, (base, range) = KINDS.fetch(name)
          value = base ? Integer(text.to_s, base, exception: false) : SWITCHES[text]
          raise ArgumentError, "#{name}: give #{form}" if value.nil? || range&.cover?(value) == false

          value
        end
      end
    end
  end
end

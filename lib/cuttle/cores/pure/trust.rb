# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Which peers are proxies that may say who their clients are.
      class Trust
        # The Trust for a list of addresses, networks and "unix"; nil if it is empty. Raises ArgumentError.
        def self.of(list)
          new(list) unless list.nil? || list.empty?
        end

        def initialize(list)
          @local = list.include?("unix")
          @networks = (list - ["unix"]).map { |text| network(text) }
        end

        # Whether an address is in one of the networks.
        def includes?(address)
          @networks.any? { |first, rest| first == address >> rest }
        end

        # Whether the peer of a connected socket is trusted. A peer that has gone is not.
        def peer?(socket)
          peer = socket.remote_address
          return @local if peer.unix?

          address = Address.parse(peer.ip_address[/[^%]+/])
          address ? includes?(address) : false
        rescue SystemCallError, SocketError, IOError
          false
        end

        private

        # [first bits, how many others follow]
        def network(text)
          head, slash, bits = text.partition("/")
          address = Address.parse(head)
          most = head.include?(":") ? Address::BITS : Address::V4_BITS
          unless address && (slash.empty? || (bits.match?(/\A\d{1,3}\z/) && bits.to_i <= most))
            raise ArgumentError, "trust: not an address or a network: #{text.inspect}"
          end

          rest = slash.empty? ? 0 : most - bits.to_i
          [address >> rest, rest]
        end
      end
    end
  end
end

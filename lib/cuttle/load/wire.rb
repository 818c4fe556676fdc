# frozen_string_literal: true

require "digest/sha2"
require "json"
require "securerandom"
require "socket"

module Cuttle
  module Load
    # The messages between generators: JSON, one message per line, over TCP.
    #
    # Law: a generator does nothing for a peer that has not proved that it knows the token. Each side sends a nonce, and
    # the other answers with HMAC-SHA256 of it (RFC 2104) under the token, with its own role as a prefix, so that no
    # answer can be replayed. The connection is neither encrypted nor signed, so use it only in your own network.
    class Wire
      # The peer has closed, is silent, or can't be trusted.
      class Lost < Failure; end

      VERSION = 4
      LIMIT = 256 << 20 # octets in a message
      BLOCK = 64 # octets of SHA-256's block

      attr_reader :name

      def initialize(socket, name)
        @socket = socket
        @name = name
        @buffer = +"".b
      end

      # Sends a message (a Hash). Raises Lost.
      def put(message)
        @socket.write(JSON.generate(message), "\n")
      rescue SystemCallError, IOError => error
        raise Lost, "#{name}: #{error.is_a?(IOError) ? "the connection is closed" : Load.reason(error)}"
      end

      # The next message, or nil if none arrived within +timeout+ seconds. Raises Lost.
      def get(timeout: nil, limit: LIMIT)
        deadline = timeout && Cuttle.now + timeout
        until (line = @buffer.slice!(/\A[^\n]*\n/n))
          raise Lost, "#{name}: a message that is too long" if @buffer.bytesize > limit
          return if deadline && !@socket.wait_readable([deadline - Cuttle.now, 0].max)

          fill
        end
        parse(line)
      end

      # The next message, which must arrive in time.
      def demand(timeout: 10, limit: LIMIT)
        get(timeout: timeout, limit: limit) or raise Lost, "#{name}: no answer"
      end

      # Each side proves itself to the other. role: "agent" or "caller". Raises Lost.
      def authenticate(token, role)
        other = role == "agent" ? "caller" : "agent"
        mine = SecureRandom.hex(16)
        put("cuttle-load" => VERSION, "nonce" => mine)
        theirs = demand(limit: 1000)
        unless theirs["cuttle-load"] == VERSION && theirs["nonce"].is_a?(String)
          raise Lost, "#{name}: has another version"
        end

        put("proof" => proof(token, role, theirs["nonce"]))
        return if same?(demand(limit: 1000)["proof"].to_s, proof(token, other, mine))

        raise Lost, "#{name}: has another token"
      end

      def close
        @socket.close
      end

      private

      def fill
        @buffer << @socket.readpartial(1 << 20)
      rescue SystemCallError, IOError
        raise Lost, "#{name}: the connection is closed"
      end

      def parse(line)
        message = JSON.parse(line)
        message.is_a?(Hash) ? message : raise(Lost, "#{name}: does not speak this protocol")
      rescue JSON::ParserError
        raise Lost, "#{name}: does not speak this protocol"
      end

      def proof(token, role, nonce)
        key = token.b
        key = Digest::SHA256.digest(key) if key.bytesize > BLOCK
        key = key.ljust(BLOCK, "\0")
        inner = Digest::SHA256.digest(mask(key, 0x36) + "#{role} #{nonce}")
        Digest::SHA256.hexdigest(mask(key, 0x5c) + inner)
      end

      def mask(key, octet)
        key.each_byte.map { |byte| (byte ^ octet).chr }.join.b
      end

      # Compares in a time that does not depend on the position of a difference.
      def same?(one, other)
        one.bytesize == other.bytesize && one.bytes.zip(other.bytes).reduce(0) { |sum, (a, b)| sum | (a ^ b) }.zero?
      end
    end
  end
end

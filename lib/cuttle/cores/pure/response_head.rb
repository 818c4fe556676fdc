# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # A response's head: the app's fields, each octet checked (RFC 9112, 4 and 5), without those that describe how the
      # message is framed. They state the app's wish, and the caller writes them. "Status" is meant for CGI and is left
      # out.
      class ResponseHead
        Syntax = Http::Parsers::Syntax
        NAME = /\A[#{Syntax::TOKEN}]+\z/n
        VALUE = /\A[#{Syntax::VALUE}]*\z/n
        LENGTH = /\A\d{1,18}\z/n

        # content_length: the app's, nil without one
        # upgrade: the value of the first Upgrade field, nil without one
        attr_reader :content_length, :upgrade

        # The pairs of names and values in what an app returns as headers, and whether rack.hijack is among them.
        # Raises InvalidResponse.
        def self.gather(headers)
          raise InvalidResponse, "headers can't be enumerated: #{headers.inspect}" unless headers.respond_to?(:each)

          pairs = []
          hijack = false
          headers.each do |name, value|
            name = name.name if name.is_a?(Symbol)
            raise InvalidResponse, "a header's name is no token: #{name.inspect}" unless name.is_a?(String)

            if name.start_with?("rack.") && name.length > 5
              hijack ||= name == "rack.hijack" && value ? true : false
            else
              collect(pairs, name, value)
            end
          end
          [pairs, hijack]
        end

        def self.collect(pairs, name, value)
          case value
          when nil then nil
          when Array then value.each { |one| collect(pairs, name, one.to_s) }
          else pairs << [name, value.to_s]
          end
        end
        private_class_method :collect

        # The final status code that +status+ is. Raises InvalidResponse.
        def self.status(status)
          number = status.is_a?(String) && status.length == 3 ? status.to_i : status
          return number if number.is_a?(Integer) && number.between?(200, 599)

          raise InvalidResponse, "status is no final status code: #{status.inspect}"
        end

        # "date: …" with the line's end, made once a second.
        def self.date_line
          second = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
          made, line = @date
          return line if made == second

          line = Time.at(second).utc.strftime("date: %a, %d %b %Y %H:%M:%S GMT\r\n").freeze
          @date = [second, line].freeze
          line
        end

        # Raises InvalidResponse.
        def initialize(status, pairs)
          @text = String.new("HTTP/1.1 #{status} #{Reasons.of(status)}\r\n", encoding: Encoding::BINARY)
          pairs.each { |name, value| field(name, value.b) }
        end

        def chunked? = @chunked
        def close? = @close
        def date? = @date
        # Whether Connection has that option.
        def upgrade_option? = @upgrade_option

        # Adds octets unchecked.
        def <<(octets)
          @text << octets
          self
        end

        def add_length(length)
          self << "content-length: #{length}\r\n"
        end

        def to_s
          @text
        end

        private

        # A value with newlines becomes several fields (Rack 2). Newlines at its end make none.
        def field(name, value)
          raise InvalidResponse, "a header's name is no token: #{name.inspect}" unless NAME.match?(name.b)

          lines = VALUE.match?(value) ? [value] : value.split("\n")
          lines.each do |line|
            unless VALUE.match?(line)
              raise InvalidResponse, "control character in the value of a header: #{name.inspect}"
            end

            @text << name.b << ": " << line << "\r\n" if written?(name, line)
          end
        end

        # Notes what a field says about the message. Whether it is sent as it is.
        def written?(name, value)
          case name.downcase
          when "status", "keep-alive" then false
          when "date" then @date = true
          when "connection" then connection(value)
          when "upgrade" then @upgrade ||= value
          when "content-length" then length(name, value)
          when "transfer-encoding" then encoding(name, value)
          else true
          end
        end

        # The caller writes two of its options. A sender must list the fields that are only for this connection
        # (RFC 9110, 7.6.1).
        def connection(value)
          options = Hijacked.elements(value)
          @close ||= options.include?("close")
          @upgrade_option ||= options.include?("upgrade")
          (options - %w[close keep-alive]).any?
        end

        # RFC 9110, 8.6: digits only. Two fields must agree.
        def length(name, value)
          raise InvalidResponse, "content-length is no number: #{name.inspect}" unless LENGTH.match?(value)
          if @content_length && @content_length != value.to_i
            raise InvalidResponse, "two different content-lengths: #{name.inspect}"
          end

          @content_length = value.to_i
          false
        end

        def encoding(name, value)
          unless value.casecmp?("chunked")
            raise InvalidResponse, "a transfer-encoding other than chunked: #{name.inspect}"
          end

          @chunked = true
          false
        end
      end
    end
  end
end

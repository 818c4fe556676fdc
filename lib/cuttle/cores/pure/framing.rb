# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # How a response's body goes out: with a known length, in chunks, in chunks that the app makes, until the
      # connection's end, or not at all.
      class Framing
        # Octets that are still owed to the Content-Length; nil without one.
        attr_accessor :left

        def initialize(bodiless:)
          @bodiless = bodiless
        end

        # There is no body, whatever the app returns.
        def bodiless? = @bodiless
        def chunked? = @chunked
        # The app has put the body in chunks itself.
        def encoded? = !@checker.nil?

        # The end of the connection is the end of the body.
        def unbounded? = !@bodiless && !@chunked && !encoded? && @left.nil?

        def chunk!
          @chunked = true
        end

        def encoded!
          @checker = Http::Parsers::Pure.new
          @pending = String.new(encoding: Encoding::BINARY)
          @whole = false
        end

        # Whether all chunks have passed.
        def whole? = @whole

        # Follows the chunks that the app makes. Returns false once they are none, or go on behind the last.
        def check(octets)
          return octets.empty? if @whole

          @pending << octets.b
          loop do
            consumed, _, @whole = @checker.chunks(@pending)
            @pending = @pending.byteslice(consumed..)
            return @pending.empty? if @whole
            return true if consumed.zero?
          end
        rescue Http::ParseError
          false
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Rack
    # One request to an app, in a ractor that serves nothing else, so that operations that Ruby forbids in ractors show
    # before clients are affected. Anything else that the app does with that request does not matter.
    class Rehearsal
      # Seconds for the request, because a stream may have no end. Obstacles that come later show while the app serves.
      LIMIT = 3

      CLASS_VARIABLE = /class variables from non-main Ractors \((?<what>@@\w+) from (?<owner>[\w:]+)\)/
      MODULE_VARIABLE = /variables of classes.modules from non-main Ractors \((?<what>@\w+) from (?<owner>[\w:]+)\)/
      CONSTANT = /non-shareable objects in constant (?<owner>[\w:]+)::(?<what>\w+)/
      BLOCK = /\Adefined with an un-shareable Proc/
      KINDS = { CLASS_VARIABLE => "class variable", MODULE_VARIABLE => "variable", CONSTANT => "constant" }.freeze

      # Raises UsageError if +app+, which is shareable, attempts an operation that is forbidden in ractors.
      def self.call(app)
        line = first_ractor { Ractor.new(app) { |shared| Rehearsal.new(shared).run } }.value
        raise UsageError, line if line
      end

      # Ruby warns once that ractors are experimental. So does the manual.
      def self.first_ractor
        experimental = Warning[:experimental]
        Warning[:experimental] = false
        yield
      ensure
        Warning[:experimental] = experimental
      end
      private_class_method :first_ractor

      # The obstacle, in one line; nil if +error+ has nothing to do with ractors, as in the main ractor.
      def self.explain(error)
        return if !defined?(::Ractor.main?) || ::Ractor.main?
        return unless error.is_a?(::Ractor::Error) || (error.instance_of?(RuntimeError) && BLOCK.match?(error.message))

        used = error.backtrace&.find { |place| !place.start_with?(ROOT, "<internal:") }
        "this app can't be run in ractors: #{what(error.message)}#{", used at #{used[/\A.+?:\d+/]}" if used}"
      end

      def self.what(message)
        return "a method that define_method made of a block" if BLOCK.match?(message)

        pattern, kind = KINDS.find { |each, _| each.match?(message) }
        return message unless pattern

        found = pattern.match(message)
        file, line = Object.const_source_location(found[:owner])
        "#{kind} #{found[:what]} of #{found[:owner]}#{" (#{file}:#{line})" if file}"
      end
      private_class_method :what

      # An exchange for a Stream that no client reads.
      class Nobody
        def write(_octets) = nil
        def finish = @finished = true
        def finished? = @finished
        alias abort finish
      end

      def initialize(app)
        @app = app
      end

      # Returns the obstacle, or nil.
      def run
        Thread.new { attempt }.join(LIMIT)&.value
      end

      private

      def attempt
        _, _, body = @app.call(env)
        use(body)
        nil
      rescue Exception => error # rubocop:disable Lint/RescueException -- an app may raise whatever it likes
        Rehearsal.explain(error)
      end

      def use(body)
        if body.respond_to?(:each) then body.each(&:itself)
        elsif body.respond_to?(:call) then body.call(Stream.new(Nobody.new, Input::NONE))
        end
      ensure
        body.close if body.respond_to?(:close)
      end

      def env
        Rack.env(multithread: true, multiprocess: false).merge(
          "REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "QUERY_STRING" => "", "REQUEST_URI" => "/",
          "SERVER_PROTOCOL" => "HTTP/1.1", "SERVER_NAME" => "localhost", "SERVER_PORT" => "80",
          "HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1",
          "rack.response_finished" => [], "rack.after_reply" => []
        )
      end
    end
  end
end

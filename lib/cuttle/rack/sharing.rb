# frozen_string_literal: true

require "erb"
require "set"
require "tempfile"

module Cuttle
  module Rack
    # Prepares an app, and the objects that Rack keeps in constants, for ractors: freezes them with all that they refer
    # to. If that is impossible for an app, it is refused with one line that names the obstacle. docs/engines.md names
    # the constants of Rack for which it is impossible.
    module Sharing
      # Objects of Rack that nothing changes once an app has been loaded.
      VALUES = [Array, ERB, Hash, Proc, Regexp, Set, String, Struct, ::Rack::QueryParser].freeze

      # Names of methods that take one value.
      OPERATOR = /[^\w?!]|=\z/

      class << self
        # Returns the app, shareable. Raises UsageError.
        def call(app)
          share_constants(::Rack, {}.compare_by_identity)
          share_tempfiles
          Ractor.make_shareable(app)
        rescue Ractor::Error => error
          raise UsageError, "this app can't be run in ractors: #{reason(error)}"
        end

        private

        # Rack loads its files when their constants are first used, which would be in a ractor.
        def load_all(room)
          room.constants(false).each do |name|
            room.const_get(name) if room.autoload?(name)
          rescue LoadError, NameError
            nil # an optional part of Rack's
          end
        end

        def share_constants(room, seen)
          return if seen[room]

          seen[room] = true
          load_all(room)
          values(room).each do |value|
            case value
            when Module then share_constants(value, seen) if value.name.to_s.start_with?("Rack::")
            when *VALUES then share(value)
            end
          end
        end

        # The values of constants, and of a module's own variables.
        def values(room)
          names = room.constants(false).reject { |name| room.autoload?(name) }
          names.map { |name| room.const_get(name) } +
            room.instance_variables.map { |name| room.instance_variable_get(name) }
        end

        # A Proc needs the local variables around it.
        def surroundings(block)
          variables = block.binding.local_variables.map { |name| block.binding.local_variable_get(name) }
          variables.select { |variable| variable.is_a?(Regexp) || variable.is_a?(String) }
        end

        def share(value)
          return if Ractor.shareable?(value)

          surroundings(value).each { |variable| Ractor.make_shareable(variable) } if value.is_a?(Proc)
          Ractor.make_shareable(value)
        rescue Ractor::Error
          nil # a request that needs it says so
        end

        # Rack puts a form's files into them. Operators and setters of Ruby's own (delegate.rb) are blocks, which only
        # the main ractor can call.
        def share_tempfiles
          delegates = Tempfile.superclass
          delegates.public_instance_methods.grep(OPERATOR).each do |name|
            next if !delegates.method_defined?(name, false) || Tempfile.method_defined?(name, false)

            Tempfile.define_method(name, &Ractor.shareable_lambda { |value| __getobj__.__send__(name, value) })
          end
        end

        def reason(error)
          place = error.message[/#<Proc:0x\h+ (.+?:\d+)/, 1] or return error.message
          "the block at #{place} can't be shared: write Ractor.shareable_lambda { … }, which sees no self"
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    # Where a profile was made, against where we are.
    module Elsewhere
      FACTS = %w[cpu cores memory ruby yjit].freeze

      module_function

      # What differs: "cpu: Xeon there, EPYC here". Empty on the same machine under the same Ruby.
      def differences(profile, cpus)
        there = profile.environment or return ["it does not say of which"]
        here = Lab::Machine.facts(Lab::Machine::Cores.new(**cpus))
        FACTS.reject { |name| there[name] == here[name] }.map do |name|
          "#{name}: #{told(name, there[name])} there, #{told(name, here[name])} here"
        end
      end

      def told(name, value)
        name == "memory" && value ? Load::Units.size(value) : value.inspect.delete('"')
      end

      # How many cores the servers of a tune have: on this machine, or on that of a profile that is only asked.
      def server_cores(options, profile)
        there = profile.environment&.fetch("server_cores", nil)
        options.kept && !options.verify && there ? there.length : Lab::Machine::Cores.new(**options.cpus).server.length
      end
    end
  end
end

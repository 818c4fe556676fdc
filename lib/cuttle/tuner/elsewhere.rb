# frozen_string_literal: true

module Cuttle
  module Tuner
    # Compares the machine of a profile with this machine.
    module Elsewhere
      FACTS = %w[cpu cores memory ruby yjit].freeze

      module_function

      # The differences: "cpu: Xeon there, EPYC here". Empty on the same machine with the same Ruby.
      def differences(profile, cpus)
        there = profile.environment or return ["the profile does not name its machine"]
        here = Lab::Machine.facts(Lab::Machine::Cores.new(**cpus))
        FACTS.filter_map do |name|
          one, other = [there, here].map { |facts| told(name, facts[name]) }
          "#{name}: #{one} there, #{other} here" unless one == other
        end
      end

      # As it is written: the memory of one virtual machine differs by some kilobytes from start to start.
      def told(name, value)
        name == "memory" && value ? Load::Units.size(value) : value.inspect.delete('"')
      end

      # The number of cores for the servers of a tune: on this machine, or with --no-verify on the profile's machine.
      # profile: nil if there is none yet.
      def server_cores(options, profile)
        there = profile&.environment&.fetch("server_cores", nil)
        options.kept && !options.verify && there ? there.length : Lab::Machine::Cores.new(**options.cpus).server.length
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    # Changes a profile: its requests wait or compute a given number of times as long.
    module Circumstances
      module_function

      def profile(profile, wait: 1, cpu: 1)
        return profile if wait == 1 && cpu == 1

        profile.with(entries: profile.entries.map do |entry|
          Profile::Entry.new(**entry.to_h, cpu: entry.cpu.map { |each| each * cpu },
                                           wait: entry.wait.map { |each| each * wait })
        end)
      end
    end
  end
end

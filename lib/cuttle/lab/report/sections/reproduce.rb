# frozen_string_literal: true

require "shellwords"

module Cuttle
  module Lab
    module Report
      module Sections
        WORD = %r{\A[\w\-./:=,+@%]+\z} # needs no quotes in a shell

        register "reproduce", "Repeat it", at: 160 do |view|
          results = view.results
          [tag(:pre, tag(:code, command(results))),
           tag(:p, "The order of the runs follows from the seed, #{results.seed}. Each load lasted " \
                   "#{Units.duration(results.duration.to_f)} after #{Units.duration(results.warmup.to_f)} of " \
                   "warm-up. The raw data of every run is in this file, as JSON in the element #{Page::DATA}.")]
        end

        # The command that repeats the lab, with its seed.
        def self.command(results)
          words = results.command || []
          words += ["--seed", results.seed.to_s] unless words.any? { |word| word.start_with?("--seed") }
          words.map { |word| word.match?(WORD) ? word : Shellwords.escape(word) }.join(" ")
        end
      end
    end
  end
end

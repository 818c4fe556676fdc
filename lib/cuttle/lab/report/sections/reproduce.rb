# frozen_string_literal: true

require "shellwords"

module Cuttle
  module Lab
    module Report
      module Sections
        # How to do it again.
        module Reproduce
          extend Markup

          HEADING = "Do it again"
          PLAIN = %r{\A[\w\-./:=,+@%]+\z} # words that a shell takes as they are

          module_function

          def content(view)
            results = view.results
            safe(tag(:pre, tag(:code, command(results))),
                 tag(:p, "The order of the runs follows from the seed, #{results.seed}. Each load lasted " \
                         "#{Load::Units.duration(results.duration.to_f)} after " \
                         "#{Load::Units.duration(results.warmup.to_f)} of warm-up. The raw data of every run is in " \
                         "this file, as JSON in the element #{Page::DATA}."))
          end

          # With the seed, so that it is the same lab.
          def command(results)
            words = results.command || []
            words += ["--seed", results.seed.to_s] unless words.any? { |word| word.start_with?("--seed") }
            words.map { |word| word.match?(PLAIN) ? word : Shellwords.escape(word) }.join(" ")
          end
        end
      end
    end
  end
end

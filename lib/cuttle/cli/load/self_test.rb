# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    class Load
      # `cuttle load self-test`: exit status 1 if a check fails.
      class SelfTest
        def initialize(out:, err:)
          @out = out
          @err = err
          @margin = 1
        end

        def run(arguments)
          rest = CLI.parse(parser, arguments)
          raise UsageError, "self-test takes no #{rest.first}" if rest.any?

          checks = Cuttle::Load::SelfTest.new(margin: @margin).run { |check| report(check) }
          failed = checks.reject(&:passed)
          return 0 if failed.empty?

          @err.puts "cuttle: self-test: #{failed.length} of #{checks.length} checks failed: #{verdict(failed)}"
          1
        end

        private

        def parser
          OptionParser.new do |parser|
            parser.banner = "Usage: cuttle load self-test [OPTION …]"
            parser.on("--margin FACTOR", Float, "multiply the tolerances of the times by FACTOR (1)") do |factor|
              @margin = factor
            end
            CLI.tell_version_and_help(parser)
          end
        end

        def verdict(failed)
          return "the generator is not to be trusted" if failed.any? { |check| check.about == :generator }

          "what it measures is true, but this machine is too busy to measure on"
        end

        def report(check)
          @out.puts "#{check.passed ? "ok    " : "FAILED"}  #{check.name.ljust(20)} #{check.detail}"
        end
      end
    end
  end
end

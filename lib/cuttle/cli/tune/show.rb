# frozen_string_literal: true

require "json"

module Cuttle
  class CLI
    class Tune
      # `cuttle tune show DIR`: prints the answer of a tune again, writes its page again, and on request the
      # configuration file.
      class Show
        USAGE = <<~TEXT
          Usage: cuttle tune show DIR [--json] [--write]
          Prints the answer of the tune in DIR and writes DIR/report.html again.

                  --json         print the answer as JSON
                  --write        write the answer into config/cuttle.rb
              -h, --help     show this help
        TEXT
        FLAGS = %w[--json --write].freeze

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status; raises UsageError and Error.
        def run(arguments)
          throw :help, USAGE if arguments.intersect?(%w[-h --help])

          folder = Tuner::Folder.new(CLI.directory(arguments - FLAGS, "show"))
          advice = Tuner::Advice.read(folder.at(Tuner::Advice::FILE))
          print(advice, folder, json: arguments.include?("--json"))
          write(advice) if arguments.include?("--write")
          0
        end

        # Prints the answer, then writes the page: on a full disk, or in another user's directory, the answer is still
        # shown. Raises Error.
        def print(advice, folder, json:)
          @out.print json ? "#{JSON.generate(advice.to_h)}\n" : Tuner::Report.text(advice)
          page = folder.write(Tuner::Report::FILE, Tuner::Report.html(advice))
          @out.puts "", page unless json
        end

        # Changes the configuration file, and prints the difference. Raises Error.
        def write(advice)
          return @err.puts("cuttle: nothing to write: keep what you have") if advice.kind == :keep
          raise Error, "--write: no setting keeps the limits" if advice.kind == :none

          path = Present.writable(advice.edit&.fetch("path"))
          edit = Tuner::Edit.new(path, cores: advice.cores, max_fibers: advice.max_fibers)
          diff = edit.diff(advice.choice.setting)
          remark = edit.remark(advice.choice.setting)
          edit.write(advice.choice.setting)
          @err.puts diff, *remark, "cuttle: #{diff.empty? ? "nothing to change in" : "wrote"} #{path}"
        end
      end
    end
  end
end

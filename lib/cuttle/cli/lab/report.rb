# frozen_string_literal: true

require "json"

module Cuttle
  class CLI
    class Lab
      # `cuttle lab report DIR [--json]`: the report of a lab that is finished or still running.
      class Report
        USAGE = <<~TEXT
          Usage: cuttle lab report DIR [--json]
          Prints the table of the lab in DIR and writes DIR/report.html again. The page is one file.

                  --json         print the report as JSON, with the raw data, and write nothing
              -h, --help     show this help
        TEXT

        PAGE = "report.html"

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status; raises UsageError and Error.
        def run(arguments)
          throw :help, USAGE if arguments.intersect?(%w[-h --help])

          results = Cuttle::Lab::Results.read(CLI.directory(arguments - ["--json"], "report"))
          json = arguments.include?("--json")
          show(results, json: json, page: !json)
          0
        end

        # Prints the report. page: whether to write the page beside the results as well.
        def show(results, json:, page: true)
          analysis = Cuttle::Lab::Analysis.new(results)
          path = write(results, analysis) if page
          return @out.puts(JSON.generate(Cuttle::Lab::Report.json(results, analysis))) if json

          @out.print Cuttle::Lab::Report.text(results, analysis)
          @out.puts "", path
        end

        private

        # Returns its path.
        def write(results, analysis)
          path = File.join(results.directory, PAGE)
          File.write("#{path}.new", Cuttle::Lab::Report.html(results, analysis))
          File.rename("#{path}.new", path) # a reader always sees a whole page
          path
        rescue SystemCallError => error
          raise Cuttle::Lab::Failure, "can't write #{path}: #{Cuttle::Load.reason(error)}"
        end
      end
    end
  end
end

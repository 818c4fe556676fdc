# frozen_string_literal: true

module Cuttle
  class CLI
    class Load
      # The outputs of a result: the screen, and files. Files are opened before the run, so that a wrong name doesn't
      # waste the run.
      class Outputs
        RENDERERS = { json: :Json, html: :Html, hgrm: :Hgrm, csv: :Csv, ab: :Ab, prometheus: :Prometheus }.freeze

        # Raises UsageError.
        def initialize(options, out:, err:)
          @out = out
          @err = err
          @files = options.files
          @files.each { |name, path| check(name, path) }
        end

        # An output on standard output replaces the table.
        def write(result)
          @out.print Cuttle::Load::Reports::Text.render(result) unless @files.value?("-")
          @files.each { |name, path| put(path, renderer(name).render(result)) }
        end

        private

        def renderer(name)
          Cuttle::Load::Reports.const_get(RENDERERS.fetch(name))
        end

        def check(name, path)
          File.open(path, "a").close unless path == "-"
        rescue SystemCallError => error
          raise UsageError, "--#{name}: #{path}: #{Cuttle::Load.reason(error)}"
        end

        def put(path, text)
          path == "-" ? @out.print(text) : File.write(path, text)
        end
      end
    end
  end
end

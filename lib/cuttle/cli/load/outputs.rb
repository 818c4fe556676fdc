# frozen_string_literal: true

module Cuttle
  class CLI
    class Load
      # Where a result goes: the screen, and files. Files are opened first, so that a wrong name costs no run.
      class Outputs
        RENDERERS = { json: :Json, hgrm: :Hgrm, csv: :Csv, ab: :Ab }.freeze

        # Raises UsageError.
        def initialize(options, out:, err:)
          @out = out
          @err = err
          @files = options.files
          @files.each { |name, path| check(name, path) }
        end

        # One on standard output takes the place of the table.
        def write(result)
          @out.print Cuttle::Load::Reports::Text.render(result) unless @files.value?("-")
          @files.each { |name, path| put(path, renderer(name).render(result)) }
        end

        private

        def renderer(name)
          Cuttle::Load::Reports.const_get(RENDERERS.fetch(name))
        end

        def check(name, path)
          File.open(path, "a") {} unless path == "-"
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

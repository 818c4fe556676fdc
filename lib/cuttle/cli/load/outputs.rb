# frozen_string_literal: true

module Cuttle
  class CLI
    class Load
      # The outputs of a result: files, and the screen. Files are opened before the run, so that a wrong name doesn't
      # waste the run. A run without a result leaves no file.
      class Outputs
        RENDERERS = { json: :Json, html: :Html, hgrm: :Hgrm, csv: :Csv, ab: :Ab, prometheus: :Prometheus }.freeze

        # Raises UsageError.
        def initialize(options, out:, err:)
          @out = out
          @err = err
          @files = options.files
          @files.each { |name, path| check(name, path) }
        end

        # Writes every output, even if another one fails, and reports those that fail. Returns whether there were none.
        # An output on standard output replaces the table.
        def write(result)
          screen, files = @files.partition { |_, path| path == "-" }
          written = files.map { |name, path| put(name, path, render(name, result)) }
          screen.each { |name,| @out.print(render(name, result)) }
          @out.print Cuttle::Load::Reports::Text.render(result) if screen.empty?
          written.all?
        end

        private

        def render(name, result)
          Cuttle::Load::Reports.const_get(RENDERERS.fetch(name)).render(result)
        end

        def check(name, path)
          return if path == "-" || File.pipe?(path) # the reader of a pipe would take the check for the whole output

          there = File.exist?(path)
          File.open(path, "a").close
          File.delete(File.realpath(path)) unless there
        rescue SystemCallError => error
          raise UsageError, failure(name, path, error)
        end

        def put(name, path, text)
          File.write(path, text)
        rescue Errno::EINTR # a signal while a pipe waited for its reader
          retry
        rescue SystemCallError => error
          @err.puts "cuttle: #{failure(name, path, error)}"
        end

        def failure(name, path, error)
          "--#{name}: #{path}: #{Cuttle::Load.reason(error)}"
        end
      end
    end
  end
end

# frozen_string_literal: true

require "json"

module Cuttle
  module Load
    module Reports
      # The whole result, with the histograms of each second. docs/load.md has the schema.
      module Json
        module_function

        def render(result)
          "#{JSON.generate(result.to_h)}\n"
        end

        # Reads the Result from a file that --json wrote. Raises UsageError, which names the file.
        def read(path)
          Result.load(JSON.parse(File.read(path, encoding: "UTF-8")))
        rescue SystemCallError => error
          raise UsageError, "#{path}: #{Load.reason(error)}"
        rescue JSON::ParserError
          raise UsageError, "#{path}: not JSON"
        rescue Failure => error
          raise UsageError, "#{path}: #{error.message}"
        end
      end
    end
  end
end

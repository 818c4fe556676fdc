# frozen_string_literal: true

require "json"

module Cuttle
  module Load
    module Reports
      # Everything, with the raw histograms of each second. docs/load.md has the schema.
      module Json
        module_function

        def render(result)
          "#{JSON.generate(result.to_h)}\n"
        end

        # The Result in a file that --json wrote. Raises UsageError and Failure, naming it.
        def read(path)
          Result.load(JSON.parse(File.read(path)))
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

# frozen_string_literal: true

module Cuttle
  # What a server reports about its work.
  module Telemetry
    autoload :AccessLog, "cuttle/telemetry/access_log"
    autoload :LogFormat, "cuttle/telemetry/log_format"
    autoload :Output, "cuttle/telemetry/output"
  end
end

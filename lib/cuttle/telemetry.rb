# frozen_string_literal: true

module Cuttle
  # What a server reports about its work.
  module Telemetry
    autoload :AccessLog, "cuttle/telemetry/access_log"
  end
end

# frozen_string_literal: true

module Cuttle
  # What a server reports about its work.
  module Telemetry
    autoload :AccessLog, "cuttle/telemetry/access_log"
    autoload :LogFormat, "cuttle/telemetry/log_format"
    autoload :Metrics, "cuttle/telemetry/metrics"
    autoload :Outlet, "cuttle/telemetry/outlet"
    autoload :Output, "cuttle/telemetry/output"
    autoload :Prometheus, "cuttle/telemetry/prometheus"
    autoload :Reporter, "cuttle/telemetry/reporter"
  end
end

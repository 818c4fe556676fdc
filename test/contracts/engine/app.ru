# frozen_string_literal: true

require_relative "engine_app"

# For tests of a process without free descriptors.
Process.setrlimit(:NOFILE, Integer(ENV["CUTTLE_NOFILE"])) if ENV["CUTTLE_NOFILE"]

EngineApp.current
run EngineApp

# frozen_string_literal: true

# Real apps served to real clients: what the files in this directory share. The server under test is a process of its
# own, `cuttle serve`, or whatever REAL_SERVER says (see server.rb); the apps' gems come from `examples/setup`.

require "test_helper"
require_relative "support/ways"
require_relative "support/apps"
require_relative "support/server"
require_relative "support/web"
require_relative "support/tools"
require_relative "support/served_test"

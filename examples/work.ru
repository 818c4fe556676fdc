# frozen_string_literal: true

# The lab's work app: `cuttle serve examples/work.ru`, then
#
#   curl 'http://127.0.0.1:9292/?cpu_ms=5&iowait_ms=20&response_chars=1000'
#
# WORK_CPU_MS, WORK_IOWAIT_MS and so on change the defaults (50 ms, 250 ms, 20,000 characters); docs/work.md has them
# all.

require_relative "../lib/cuttle/lab/apps/work_app"

run Cuttle::Lab::WorkApp.from_environment

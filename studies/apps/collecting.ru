# frozen_string_literal: true

# The work app, which makes major garbage collections either whenever Ruby wants them (COLLECT=always) or after a
# response (COLLECT=between). Then Ruby makes minor ones only while a request is in the app (GC.config, Ruby 3.4), and
# a major one that is due happens when the server has sent the response. The thread that answered it collects.

require_relative "../../lib/cuttle/lab/apps/work_app"

work = Cuttle::Lab::WorkApp.from_environment
GC.config(rgengc_allow_full_mark: false) if ENV["COLLECT"] == "between"
collect = ->(*) { GC.start if GC.latest_gc_info(:need_major_by) }

run(lambda do |env|
  (env["rack.response_finished"] ||= []) << collect if ENV["COLLECT"] == "between"
  work.call(env)
end)

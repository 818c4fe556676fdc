# frozen_string_literal: true

# What the Scrawls engines were measured with: a file of 1,078 octets, read anew for each request, and an app that waits
# and answers 16 characters (/?iowait_ms=1000&response_chars=16).

require_relative "../../lib/cuttle/lab/work_app"

work = Cuttle::Lab::WorkApp.new(cpu_ms: 0, iowait_ms: 0, response_chars: 16)
file = File.expand_path("test.txt", __dir__)

run(lambda do |env|
  next work.call(env) unless env["PATH_INFO"] == "/test.txt"

  body = File.binread(file)
  [200, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
end)

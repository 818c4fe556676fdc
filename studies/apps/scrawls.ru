# frozen_string_literal: true

# What the Scrawls engines were measured with: files of 1,078 and of 1,844 octets, read again for each request, and an
# app that waits and answers 16 characters (/?iowait_ms=1000&response_chars=16).

require_relative "../../lib/cuttle/lab/apps/work_app"

work = Cuttle::Lab::WorkApp.new(cpu_ms: 0, iowait_ms: 0, response_chars: 16)
files = %w[test.txt small.txt].to_h { |name| ["/#{name}", File.expand_path(name, __dir__)] }

run(lambda do |env|
  file = files[env["PATH_INFO"]]
  next work.call(env) unless file

  body = File.binread(file)
  [200, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
end)

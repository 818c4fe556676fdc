# frozen_string_literal: true

# Honest clients request /, whose work is in WORK_STEPS. Slow clients request /300k and /3m (Strings that all responses
# share) or /3m-anew (a new String for each response), or POST a body, which the app reads.
require_relative "../support/work"

work = Bench::Work.new
bodies = { "/300k" => "a" * 300_000, "/3m" => "a" * 3_000_000 }.each_value(&:freeze)

run lambda { |env|
  env["rack.input"].read if env["REQUEST_METHOD"] == "POST"
  path = env["PATH_INFO"]
  body = bodies[path] || (path == "/3m-anew" ? "a" * 3_000_000 : "Hello, world!")
  work.call
  [200, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
}

# frozen_string_literal: true

# Honest clients ask for /, which takes what WORK_STEPS says; slow ones for /300k and /3m, or POST a body, which is
# read.
require_relative "../support/work"

work = Bench::Work.new
bodies = { "/300k" => "a" * 300_000, "/3m" => "a" * 3_000_000 }.each_value(&:freeze)

run lambda { |env|
  env["rack.input"].read if env["REQUEST_METHOD"] == "POST"
  body = bodies[env["PATH_INFO"]] || "Hello, world!"
  work.call
  [200, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
}

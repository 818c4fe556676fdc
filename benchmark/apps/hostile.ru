# frozen_string_literal: true

# Honest clients ask for /, which takes what WORK_STEPS says; slow ones for /300k and /3m, which are Strings that every
# response has, or for /3m-anew, which is made for each, or POST a body, which is read.
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

# frozen_string_literal: true

# Hello, and /settle, which collects garbage so that memory is always compared after a collection.
run lambda { |env|
  GC.start if env["PATH_INFO"] == "/settle"
  [200, { "content-type" => "text/plain", "content-length" => "13" }, ["Hello, world!"]]
}

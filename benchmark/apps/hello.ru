# frozen_string_literal: true

# The smallest Rack app that sets three headers.
run lambda { |_env|
  [200, { "content-type" => "text/plain", "cache-control" => "no-cache", "content-length" => "13" }, ["Hello, world!"]]
}

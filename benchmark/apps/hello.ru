# frozen_string_literal: true

# The smallest Rack app with three headers of its own.
run lambda { |_env|
  [200, { "content-type" => "text/plain", "cache-control" => "no-cache", "content-length" => "13" }, ["Hello, world!"]]
}

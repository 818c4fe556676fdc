# frozen_string_literal: true

# The smallest app there is to serve: run it with `cuttle serve examples/hello.ru`.
# The headers are a new Hash for every request because Rack lets whoever is in front of an app add to them.

BODY = ["Hello, world!\n"].freeze

run do |_env|
  [200, { "content-type" => "text/plain", "content-length" => "14", "cache-control" => "no-store" }, BODY]
end

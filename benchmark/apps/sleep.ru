# frozen_string_literal: true

# An app that waits, as for a database: SLEEP seconds a request, and no work.
pause = Float(ENV.fetch("SLEEP"))

run lambda { |_env|
  sleep(pause)
  [200, { "content-type" => "text/plain", "content-length" => "13" }, ["Hello, world!"]]
}

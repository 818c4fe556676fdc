# frozen_string_literal: true

# An app that computes and waits as its environment specifies (benchmark/support/work.rb).
require_relative "../support/work"

work = Bench::Work.new

run lambda { |_env|
  work.call
  [200, { "content-type" => "text/plain", "content-length" => "13" }, ["Hello, world!"]]
}

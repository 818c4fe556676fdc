# frozen_string_literal: true

# Hello, and /settle, which collects garbage so that memory is always compared after a collection. It is a minor one, as
# those that come by themselves. After a major one Ruby may enlarge the heap, and later pauses are rarer and longer.
run lambda { |env|
  GC.start(full_mark: false) if env["PATH_INFO"] == "/settle"
  [200, { "content-type" => "text/plain", "content-length" => "13" }, ["Hello, world!"]]
}

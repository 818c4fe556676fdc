# frozen_string_literal: true

# The smallest app there is to serve: run it with `cuttle serve examples/hello.ru`.
# The headers are a new Hash for every request because Rack allows middleware to add to them. Ractors can share a
# module, but not a block.
module Hello
  BODY = ["Hello, world!\n"].freeze

  def self.call(_env)
    [200, { "content-type" => "text/plain", "content-length" => "14", "cache-control" => "no-store" }, BODY]
  end
end

run Hello

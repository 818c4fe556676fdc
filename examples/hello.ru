# frozen_string_literal: true

# The smallest app there is to serve: run it with `cuttle serve examples/hello.ru`.
# The headers are a new Hash for every request because Rack lets whoever is in front of an app add to them. A module can
# be shared by ractors, and a block can't.
module Hello
  BODY = ["Hello, world!\n"].freeze

  def self.call(_env)
    [200, { "content-type" => "text/plain", "content-length" => "14", "cache-control" => "no-store" }, BODY]
  end
end

run Hello

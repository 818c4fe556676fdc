# frozen_string_literal: true

# For benchmark/bodies. /1k, /20k and /200k answer JSON that was made at the start, so that what differs is the server's
# part. The posts are parsed as a typical app does it: /json by JSON.parse of rack.input's octets, /form by
# Rack::Request#POST, which Rails and Sinatra use too. /headers answers hello with ten headers as Rails sends them, two
# of them new each time. A GET of /json and /form has no body; its answer has the same length.
require "rack"
require "securerandom"
require_relative "../support/bodies"

documents = Bench::Bodies::SIZES.transform_values { |octets| Bench::Bodies.json(octets) }

answer = lambda do |text, type = "text/plain"|
  [200, { "content-type" => type, "cache-control" => "no-cache", "content-length" => text.bytesize.to_s }, [text]]
end
count = ->(number) { answer.call(format('{"parsed":%04d}', number), "application/json") }

as_rails = lambda do
  [200, { "content-type" => "text/html; charset=utf-8", "content-length" => "13",
          "cache-control" => "max-age=0, private, must-revalidate", "etag" => 'W/"65a8e27d8879283831b664bd8b7f0ad4"',
          "x-request-id" => SecureRandom.uuid, "x-runtime" => format("%.6f", rand),
          "x-frame-options" => "SAMEORIGIN", "x-content-type-options" => "nosniff",
          "x-permitted-cross-domain-policies" => "none", "referrer-policy" => "strict-origin-when-cross-origin" },
   ["Hello, world!"]]
end

run lambda { |env|
  case path = env["PATH_INFO"]
  when "/" then answer.call("Hello, world!")
  when "/headers" then as_rails.call
  when "/form" then count.call(Rack::Request.new(env).POST.size)
  when "/json"
    text = env["rack.input"]&.read.to_s
    count.call(text.empty? ? 0 : JSON.parse(text).fetch("topics").size)
  else answer.call(documents.fetch(path), "application/json")
  end
}

# frozen_string_literal: true

require "json"
require "uri"

module Bench
  # What benchmark/bodies sends, and what benchmark/apps/bodies.ru answers.
  module Bodies
    # Path => octets of the JSON there.
    SIZES = { "/1k" => 1_024, "/20k" => 20_480, "/200k" => 204_800 }.freeze

    # Ten, with Host.
    BROWSER = {
      "User-Agent" => "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 " \
                      "Safari/537.36",
      "Accept" => "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
      "Accept-Language" => "en-US,en;q=0.9,de;q=0.8", "Accept-Encoding" => "gzip, deflate, br, zstd",
      "Referer" => "https://www.forum.example/topics/17", "Upgrade-Insecure-Requests" => "1",
      "Sec-Fetch-Site" => "same-origin", "Sec-Fetch-Mode" => "navigate",
      "Cookie" => "_forum_session=5f2b9c0d8e7a4b6c9d0e1f2a3b4c5d6e; theme=dark; consent=1"
    }.freeze

    TOPIC = { "id" => 1_048_576, "title" => "How many threads does an app need?", "author" => "anna", "replies" => 17,
              "closed" => false, "tags" => %w[ruby servers] }.freeze

    FORM = URI.encode_www_form(
      "utf8" => "✓", "_method" => "patch", "authenticity_token" => "bG9uZyBhbmQgcmFuZG9tLCBhcyBSYWlscyBtYWtlcyB0aGVt",
      "topic[title]" => TOPIC["title"], "topic[body]" => "As many as it waits for. #{"Measure it, then. " * 12}",
      "topic[tags][]" => "ruby", "topic[closed]" => "0", "commit" => "Save"
    ).freeze

    # JSON of exactly that many octets: topics, and what is left over.
    def self.json(octets)
      topics = [TOPIC] * ((octets - 50) / JSON.generate(TOPIC).bytesize.succ)
      frame = JSON.generate("topics" => topics, "rest" => "")
      JSON.generate("topics" => topics, "rest" => "." * (octets - frame.bytesize)).freeze
    end
  end
end

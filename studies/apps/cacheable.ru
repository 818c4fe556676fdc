# frozen_string_literal: true

# Two pages of 1,000 octets, which anybody may keep for a minute: / is there at once, and /page takes 2 ms of computing,
# each time that it is made.

require_relative "../../lib/cuttle/lab/apps/work_app"

pages = { "/" => 0, "/page" => 2 }.transform_values do |milliseconds|
  Cuttle::Lab::WorkApp.new(cpu_ms: milliseconds, iowait_ms: 0, response_chars: 1000)
end

run(lambda do |env|
  page = pages[env["PATH_INFO"]]
  next [404, { "content-type" => "text/plain" }, ["there is no #{env["PATH_INFO"]}\n"]] unless page

  status, headers, body = page.call(env)
  [status, headers.merge("cache-control" => "public, max-age=60"), body]
end)

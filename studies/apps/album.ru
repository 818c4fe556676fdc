# frozen_string_literal: true

# The album page of "Puma vs. Unicorn" (2015), as it was meant: two queries, then photos that a long-lived Node.js
# process renders, one page at a time for all workers. `cuttle lab --app album` starts the database and the renderer;
#
#   GET /?query_ms=10&render_ms=520&cpu_ms=10
#
# is the page of then: milliseconds of each query, of rendering, and of computing here.

require_relative "album/page"

run Album::Page.new(database: ENV.fetch("WORK_DATABASE", nil), renderer: ENV.fetch("ALBUM_RENDERER", nil),
                    connections: Integer(ENV.fetch("RAILS_MAX_THREADS", "5"), 10))

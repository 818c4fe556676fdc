# frozen_string_literal: true

module Cuttle
  class Settings
    # Every setting, a row each (row.rb has the columns), in the order in which documents list them. A new option of
    # `cuttle serve` is a row here and the place that uses its value; `rake readme` writes it into README.
    #
    # A default stands here and nowhere else.
    TABLE = {
      nil => [
        # A rackup file, or a directory of static files; nil where the app is given as an object.
        { name: :path, kind: :text }
      ],

      "Where to listen" => [
        { name: :binds, kind: :binds, flags: ["-b", "--bind URI"], repeated: true,
          # As rackup: only this machine while developing, every interface elsewhere.
          default: lambda { |settings|
            host = %w[development test].include?(settings.environment) ? "127.0.0.1" : "0.0.0.0"
            ["tcp://#{host}:#{settings.port}"]
          },
          # -p beside -b is one address more; PORT is not, for it may be set for something else.
          joined: lambda { |uris, settings|
            settings.origin(:port) == :flag ? uris | Settings.row(:binds).otherwise(settings) : uris
          },
          help: "tcp://host:port or unix:///path; may be given again",
          readme: "`tcp://host:port` (`tcp://[::1]:9292`), `unix:///path`; several" },
        { name: :port, kind: [:whole, 0..65_535, "a port from 0 to 65535"], flags: ["-p", "--port PORT"],
          default: 9292, variables: %w[PORT],
          help: "on 127.0.0.1 in development and test, else on every interface" }
      ],

      "How to serve" => [
        { name: :engine, kind: [:name, "engine", -> { Engines.names }], flags: ["--engine NAME"], default: "hybrid",
          help: "the concurrency model: one of the engines below", readme: "the concurrency model, see below" },
        { name: :workers, kind: :workers, flags: ["-w", "--workers N"], default: 0, variables: %w[WEB_CONCURRENCY],
          help: "processes to fork; auto: one per CPU we may use; 0: none",
          readme: "processes to fork; `auto`: one for each CPU that affinity and cgroup quota allow; 0: none" },
        { name: :threads, kind: :threads, flags: ["-t", "--threads N|MIN:MAX"], default: 3, engine: true,
          fixed: ->(settings) { 1..1 unless settings.traits.pooled? },
          variables: %w[RAILS_MAX_THREADS], minimum: "RAILS_MIN_THREADS",
          help: "threads in each process; 0, with engine threads: one per connection",
          readme: "threads that run the app in each process; `MIN:MAX`; 0: one per connection (engine threads)" },
        { name: :max_fibers, kind: [:whole, 1..1_000_000, "a number of fibers above 0"], flags: ["--max-fibers N"],
          default: 1024, engine: true,
          help: "requests at once in a process of engine fibers" },
        { name: :parser, kind: [:name, "parser", -> { Http::Parsers.names }], flags: ["--parser NAME"],
          default: "native",
          help: "one of the parsers below",
          readme: "`native` (C), `pure` (Ruby), `recognizer` (regular expressions, for study only)" },
        { name: :keep_alive, kind: :on_off, flags: ["--[no-]keep-alive"], source: true,
          # A process that serves one connection at a time serves nobody else while that is kept open.
          default: ->(settings) { settings.traits.evented? || settings.traits.pooled? },
          tells: "on; off for engine single",
          help: "let connections persist" },
        { name: :like, kind: [:name, "server", -> { LIKES.keys }], flags: ["--like SERVER"],
          help: "that server's model and habits, see below" }
      ],

      "What to serve" => [
        { name: :docroot, kind: :text, flags: ["--docroot DIR"],
          default: ->(settings) { settings.path if settings.path && File.directory?(settings.path) },
          help: "serve DIR's files before the app is asked" },
        { name: :environment, kind: :text, flags: ["-e", "--environment ENV"], default: "development",
          variables: %w[APP_ENV RACK_ENV RAILS_ENV],
          help: "what the app finds in RACK_ENV" }
      ],

      "How long to wait" => [
        { name: :request_timeout, kind: :timeout, flags: ["--request-timeout S"], default: 30, source: true,
          help: "seconds for a whole request to arrive" },
        { name: :idle_timeout, kind: :timeout, flags: ["--idle-timeout S"], default: 65, source: true,
          help: "seconds for the next request on a connection" },
        { name: :write_timeout, kind: :timeout, flags: ["--write-timeout S"], default: 30, source: true,
          help: "seconds for a client to take more of a response" },
        # Below the 30 seconds that Kubernetes and Heroku give before they kill.
        { name: :shutdown_timeout, kind: :seconds, flags: ["--shutdown-timeout S"], default: 25,
          help: "seconds for requests under way when told to stop" }
      ],

      "What to say" => [
        { name: :log_requests, kind: :on_off, flags: ["-v", "--log-requests"], default: "off",
          help: "a line for each request on standard output",
          readme: "a line for each request on standard output: Common Log Format and the seconds it took" },
        { name: :quiet, kind: :on_off, flags: ["-q", "--quiet"], default: "off",
          help: "say nothing at the start" },
        { name: :debug, kind: :on_off, flags: ["--debug"], default: "off",
          help: "backtraces of what goes wrong" }
      ]
    }.flat_map { |group, rows| rows.map { |row| Row.new(group: group, **row) } }.freeze
  end
end

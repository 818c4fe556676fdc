# frozen_string_literal: true

module Cuttle
  class Settings
    # Makes -t auto, for the CPUs of this process.
    AUTO = -> { Engines::Auto.new(cores: Cluster::Cpus.count) }
    private_constant :AUTO

    # Values that need more than an expression.
    module Defaults
      module_function

      # Like rackup: this machine only in development, every interface elsewhere.
      def binds(settings)
        ["#{settings.dev_tls ? "ssl" : "tcp"}://#{local?(settings) ? "127.0.0.1" : "0.0.0.0"}:#{settings.port}"]
      end

      # A browser keeps its connections open, and a developer, or foreman, does not wait so long for Ctrl-C.
      def drain_grace(settings)
        seconds = settings.workers.zero? && local?(settings) ? 0.5 : 5
        # A grace longer than the shutdown would end every stop with status 1.
        [seconds, settings.shutdown_timeout / 2.0].min if settings.shutdown_timeout.positive?
      end

      def local?(settings) = %w[development test].include?(settings.environment)

      # A path that is used before the server enters its directory, or after the app has left it.
      def absolute(path, settings, _layer) = File.expand_path(path, settings.base).freeze

      # Whether PATH is a directory of files.
      def files?(settings)
        settings.path && File.directory?(File.expand_path(settings.path, settings.base))
      end
    end
    private_constant :Defaults

    # All settings, one row each (row.rb describes the columns), in the order in which documents list them. A new option
    # of `cuttle serve` is a row here, plus the code that uses its value. `rake readme` writes it into README.
    #
    # Defaults are defined here and nowhere else.
    TABLE = {
      nil => [
        # nil if the app is given as an object.
        { name: :path, kind: :text, words: %w[rackup],
          help: "PATH of the command line: a rackup file, or a directory of static files" }
      ],

      "Where to listen" => [
        { name: :binds, kind: :binds, flags: ["-b", "--bind URI"], words: %w[bind], repeated: true,
          default: ->(settings) { Defaults.binds(settings) },
          # -p together with -b adds an address, as port and bind of a file do. PORT does not, because it may be set for
          # another purpose. -p alone replaces those of a file.
          yields: :port,
          joined: lambda { |uris, settings, others|
            others.key?(:port) ? uris | Settings.row(:binds).otherwise(settings) : uris
          },
          help: "tcp://host:port, ssl://host:port?… or unix:///path; may be repeated",
          readme: "`tcp://host:port` (`tcp://[::1]:9292`), `unix:///path`, both with " \
                  "[options](docs/deployment.md#listeners), or `ssl://host:port?cert=FILE&key=FILE` " \
                  "([TLS](docs/tls.md)); may be repeated" },
        { name: :port, kind: [:whole, 0..65_535, "a port from 0 to 65535"], flags: ["-p", "--port PORT"],
          default: 9292, variables: %w[PORT],
          help: "TCP port, on 127.0.0.1 in development and test, else on all interfaces" },
        { name: :dev_tls, kind: :on_off, flags: ["--dev-tls"], default: "off",
          help: "serve https with a local certificate, which is made if there is none",
          readme: "serve https with [a local certificate](docs/tls.md#in-development), which is made if there is " \
                  "none" },
        { name: :bind_to_activated_sockets, kind: :activated, flags: ["--bind-to-activated-sockets[=only]"],
          default: "off",
          help: "listen on all sockets that systemd passes; only: on no others",
          readme: "listen on all sockets that systemd passes, and with `=only` on no others" },
        { name: :trust, kind: :networks, flags: ["--trust ADDRESS"], repeated: true, default: "none", source: true,
          help: "a trusted proxy: an address, a network, unix or private",
          readme: "a trusted proxy, which says who [its clients](docs/deployment.md#who-the-client-is) are: an " \
                  "address, a network (`10.0.0.0/8`), `unix` (peers of Unix sockets) or `private` (loopback and " \
                  "private networks); may be repeated" },
        { name: :proxy_protocol, kind: :on_off, flags: ["--proxy-protocol"], default: "off", source: true,
          help: "a trusted proxy's connections begin with a PROXY header",
          readme: "each connection of a trusted proxy begins with a header of the PROXY protocol, version 1 or 2; " \
                  "one listener can say so in its URI" }
      ],

      "How to serve" => [
        { name: :engine, kind: [:name, "engine", -> { Engines.names }], flags: ["--engine NAME"], default: "hybrid",
          help: "the concurrency model: one of the engines below", readme: "the [concurrency model](docs/engines.md)" },
        { name: :workers, kind: :workers, flags: ["-w", "--workers N"], default: 0, variables: %w[WEB_CONCURRENCY],
          fixed: ->(_settings) { 0 unless Process.respond_to?(:fork) },
          joined: ->(given, _, _) { given == :auto ? Cluster::Cpus.count : given },
          help: "processes to fork; auto: one for each usable CPU; 0: none",
          readme: "processes to fork; `auto`: [one for each CPU](docs/deployment.md#workers-and-threads); 0: none" },
        { name: :preload, kind: :on_off, flags: ["--[no-]preload"], default: "on", words: %w[preload_app preload_app!],
          help: "load the app before the fork, so that workers share its memory" },
        { name: :warmup, kind: :on_off, flags: ["--[no-]warmup"],
          # It takes time at each start, and a program under development starts often.
          default: ->(settings) { settings.workers.positive? || settings.environment != "development" },
          tells: "on; off in development with -w 0",
          help: "collect garbage when the app is loaded",
          readme: "collect garbage, and compact memory (Ruby 3.3), once the app is loaded, before the fork; see " \
                  "[memory](docs/memory.md)" },
        { name: :malloc_arenas, kind: [:optional, :count, "arenas"], flags: ["--malloc-arenas N"],
          # Ruby code of one ractor never runs on two threads at once; one more for native threads.
          default: ->(settings) { settings.ractors + 1 }, tells: "2; with --ractors N: N + 1",
          variables: %w[MALLOC_ARENA_MAX], help: "the maximum number of arenas in glibc's malloc",
          readme: "the maximum number of arenas in glibc's malloc; with few arenas, memory grows less; see " \
                  "[memory](docs/memory.md#the-allocator)" },
        { name: :prune_bundler, kind: :on_off, flags: ["--prune-bundler"], default: "off",
          help: "load the bundle again at a phased restart (USR1)",
          readme: "load the bundle again at a phased restart (USR1), from the present `Gemfile.lock`" },
        { name: :threads, kind: :threads, flags: ["-t", "--threads N|MIN:MAX|auto"], engine: true,
          default: ->(settings) { settings.traits.adaptive? && settings.core == "native" ? AUTO.call : 3..3 },
          joined: ->(given, _, _) { given.is_a?(Engines::Auto) ? AUTO.call : given },
          fixed: ->(settings) { 1..1 unless settings.traits.pooled? }, tells: "hybrid: auto; else 3",
          variables: %w[RAILS_MAX_THREADS], minimum: "RAILS_MIN_THREADS", unheard: Kinds.method(:rails_threads),
          help: "threads; auto: as many as help; 0: one per connection",
          readme: "threads per process that run the app; `MIN:MAX`; [`auto`](docs/engines.md#threads-auto): grow on " \
                  "demand (engine hybrid); 0: one per connection (engine threads)" },
        { name: :max_threads, kind: [:whole, 1..10_000, "a number of threads above 0"], flags: ["--max-threads N"],
          default: lambda { |settings|
            auto = settings.threads.is_a?(Engines::Auto)
            [Memory.threads(settings.workers, Engines::Auto::MOST), Engines::Auto::LEAST].max if auto
          },
          tells: "database pool's size, or 5; up to 64", help: "thread limit per process with -t auto" },
        { name: :ractors, kind: [:whole, 1..1024, "a number of ractors from 1 to 1024"], flags: ["--ractors N"],
          default: ->(settings) { settings.traits.ractors? ? Cluster::Cpus.count : 1 }, engine: true,
          tells: "one for each usable CPU", help: "number of ractors (engine ractors)" },
        { name: :max_fibers, kind: [:whole, 1..1_000_000, "a number of fibers above 0"], flags: ["--max-fibers N"],
          default: 1024, engine: true, help: "concurrent requests per process (engine fibers)" },
        { name: :core, kind: [:name, "core", -> { Cores.names }], flags: ["--core NAME"], variables: %w[CUTTLE_CORE],
          default: ->(_settings) { Cores.default }, tells: "native; else pure",
          help: "the I/O core: native (C) or pure (Ruby, slow)",
          readme: "the I/O core: `native` (C), or `pure` (Ruby, slow: for JRuby)" },
        { name: :parser, kind: [:name, "parser", -> { Http::Parsers.names }], flags: ["--parser NAME"],
          default: ->(settings) { settings.core }, tells: "native; pure for core pure",
          help: "the HTTP parser: one of the parsers below", readme: "the HTTP parser" },
        { name: :keep_alive, kind: :on_off, flags: ["--[no-]keep-alive"], source: true,
          words: %w[keep_alive enable_keep_alives],
          # A process that serves one connection at a time serves no other client while it keeps one open.
          default: ->(settings) { settings.traits.evented? || settings.traits.pooled? },
          tells: "on; off if a process serves one client at a time", help: "let connections persist" },
        { name: :early_hints, kind: :on_off, flags: ["--[no-]early-hints"], default: "off", source: true,
          help: "let the app send 103 responses (rack.early_hints)",
          readme: "let the app send [103 responses](docs/deployment.md#early-hints) (`rack.early_hints`)" },
        { name: :like, kind: [:name, "server", -> { LIKES.keys }], flags: ["--like SERVER"],
          help: "use the model and the defaults of that server, see below",
          readme: "use the model and the defaults of that server" }
      ],

      "What to serve" => [
        # Configuration.of has read it before there are settings.
        { name: :config, kind: :text, flags: ["-C", "--config FILE"], variables: %w[CUTTLE_CONFIG], words: [],
          help: "the configuration file, instead of config/cuttle.rb; - for none" },
        { name: :directory, kind: :directory, flags: ["--dir DIR"],
          help: "the directory to serve in; paths are relative to it" },
        { name: :tag, kind: :text, flags: ["--tag NAME"],
          default: ->(settings) { File.basename(File.expand_path(settings.base)) },
          tells: "the name of the directory", help: "a name that the titles of the processes show" },
        { name: :docroot, kind: :text, flags: ["--docroot DIR"],
          default: ->(settings) { settings.path if Defaults.files?(settings) },
          help: "serve the files in DIR; the app gets the other requests" },
        { name: :environment, kind: :text, flags: ["-e", "--environment ENV"], default: "development",
          variables: %w[APP_ENV RACK_ENV RAILS_ENV],
          help: "the value of RACK_ENV for the app" }
      ],

      # 0 or "none" turns one off; then it is nil here and for the source. (--shutdown-timeout 0 means "do not wait".)
      "How long to wait" => [
        { name: :header_timeout, kind: %i[optional seconds], flags: ["--header-timeout S"], default: 10, source: true,
          follows: :request_timeout,
          help: "seconds for a request's head, from its first octet to its last" },
        { name: :body_timeout, kind: %i[optional seconds], flags: ["--body-timeout S"], default: 3600, source: true,
          follows: :request_timeout,
          help: "seconds for a whole body to arrive" },
        { name: :request_timeout, kind: %i[optional seconds], flags: ["--request-timeout S"],
          help: "the value of the two timeouts above, where they are not given" },
        { name: :min_rate, kind: %i[optional size], flags: ["--min-rate N"], default: 500, source: true,
          help: "minimum octets per second of a client, after 10 s of grace",
          readme: "minimum octets per second, for a body received or a streamed response sent, after 10 s" },
        { name: :idle_timeout, kind: %i[optional seconds], flags: ["--idle-timeout S"], default: 65, source: true,
          words: %w[idle_timeout persistent_timeout],
          help: "seconds for the next request on a connection" },
        { name: :write_timeout, kind: %i[optional seconds], flags: ["--write-timeout S"], default: 30, source: true,
          help: "seconds for which a client may read nothing of a response" },
        { name: :drain_grace, kind: %i[optional seconds], flags: ["--drain-grace S"], source: true,
          default: ->(settings) { Defaults.drain_grace(settings) },
          tells: "5; 0.5 in development or test with -w 0",
          help: "seconds of keep-alive after a stop",
          readme: "seconds in which keep-alive connections may still send a request after a stop signal; the " \
                  "default is at most half of `--shutdown-timeout`" },
        # Below the 30 seconds that Kubernetes and Heroku wait before they kill.
        { name: :shutdown_timeout, kind: :seconds, flags: ["--shutdown-timeout S"], default: 25,
          words: %w[shutdown_timeout worker_shutdown_timeout],
          help: "seconds to finish requests under way after a stop signal" },
        { name: :drain_delay, kind: %i[optional seconds], flags: ["--drain-delay S"], default: "none",
          help: "seconds to keep accepting after a stop signal, for load balancers",
          readme: "seconds to keep accepting after a stop signal, until load balancers have noticed" },
        { name: :worker_boot_timeout, kind: %i[optional seconds], flags: ["--worker-boot-timeout S"], default: 60,
          help: "seconds in which a worker must be ready, and the app loaded at a restart" },
        { name: :worker_timeout, kind: %i[optional seconds], flags: ["--worker-timeout S"], default: 60,
          help: "seconds without a sign of life after which a worker is killed" },
        { name: :worker_max_age, kind: %i[optional seconds], flags: ["--worker-max-age S"], default: "none",
          help: "seconds after which a worker is replaced" },
        { name: :queue_timeout, kind: %i[optional seconds], flags: ["--queue-timeout S"], default: "none", source: true,
          help: "seconds that a request may wait for a thread; then it gets 503" },
        { name: :app_timeout, kind: %i[optional seconds], flags: ["--app-timeout S"], default: "none", source: true,
          help: "seconds for the app to begin a response, before 503",
          readme: "seconds for the app to begin a response; after that, Cuttle answers 503, logs where the app is " \
                  "stuck, and replaces the worker" }
      ],

      "Limits" => [
        { name: :max_body, kind: %i[optional size], flags: ["--max-body SIZE"], default: "1G", source: true,
          words: %w[max_body http_content_length_limit],
          help: "octets in a request's body; a larger one gets 413" },
        { name: :max_spool, kind: %i[optional size], flags: ["--max-spool SIZE"], default: "none", source: true,
          help: "octets on disk for all bodies and responses of a process" },
        { name: :spool_directory, kind: :path, flags: ["--spool-directory DIR"], source: true,
          joined: Defaults.method(:absolute), default: ->(_settings) {}, tells: "TMPDIR, or /tmp",
          help: "directory of unnamed files for large bodies and responses" },
        { name: :write_ahead, kind: %i[optional size], flags: ["--write-ahead SIZE"], default: "16M", source: true,
          help: "octets that a streamed response may be ahead of its client",
          readme: "octets that a streamed response may be ahead of its client before its thread waits" },
        { name: :max_connections, kind: [:optional, :count, "connections"], flags: ["--max-connections N"],
          default: "none", source: true,
          help: "open connections per process" },
        { name: :max_requests, kind: [:optional, :count, "requests"], flags: ["--max-requests N"], default: "none",
          words: %w[max_requests max_keep_alive],
          source: true,
          help: "requests per connection" },
        { name: :max_queue, kind: [:optional, :count, "requests"], flags: ["--max-queue N"], default: "none",
          source: true,
          help: "requests per process that may wait for a thread; others get 503" },
        { name: :relay, kind: :on_off, flags: ["--[no-]relay"], default: "on",
          help: "give a request that has to wait to an idle worker",
          readme: "give a request that has to wait, with its connection, to a worker that is idle; see " \
                  "[deployment](docs/deployment.md#busy-workers)" },
        { name: :worker_max_memory, kind: %i[optional size], flags: ["--worker-max-memory SIZE"], default: "none",
          help: "memory at which a worker is replaced",
          readme: "memory (proportional set size) at which a worker is replaced by a new one" },
        { name: :worker_max_requests, kind: [:optional, :count, "requests"], flags: ["--worker-max-requests N"],
          default: "none", help: "requests after which a worker is replaced" },
        { name: :refork_after, kind: [:counts, "requests"], flags: ["--refork-after N[,N...]"], default: "none",
          help: "requests after which a worker becomes the mould",
          readme: "requests after which a warm worker becomes the process that workers are forked from; with " \
                  "several numbers, each applies to one refork, and the last repeats; see " \
                  "[memory](docs/memory.md#refork)" },
        { name: :keep_mould, kind: :on_off, flags: ["--[no-]keep-mould"], default: "on",
          help: "keep the process that workers are forked from",
          readme: "keep the process that workers are forked from; see [memory](docs/memory.md#the-mould)" },
        { name: :half_close, kind: [:choice, %w[answer drop]], flags: ["--half-close answer|drop"], default: "answer",
          source: true,
          help: "whether to answer a client that closed its sending side" },
        { name: :underscore_headers, kind: :on_off, flags: ["--[no-]underscore-headers"], default: "off", source: true,
          help: "keep field names with an underscore",
          readme: "keep field names with an underscore; an app can't tell `X_Name` from `X-Name`" }
      ],

      "Control" => [
        { name: :control_url, kind: :control, flags: ["--control-url URL"],
          joined: ->(url, settings, _) { Listeners.absolute(url, settings.base) },
          help: "listen for commands and probes: tcp://host:port, unix:///path, or auto",
          readme: "listen for commands and probes: `tcp://host:port`, `unix:///path`, or `auto`, a Unix socket in " \
                  "`TMPDIR`" },
        { name: :control_token, kind: :text, flags: ["--control-token TOKEN"], variables: %w[CUTTLE_CONTROL_TOKEN],
          secret: true,
          check: lambda { |token|
            raise ArgumentError, "give printable characters without spaces" unless token.match?(/\A[\x21-\x7e]+\z/)
          },
          help: "the secret that commands must present; for TCP, made if none is given",
          readme: "the secret that commands must present; for TCP, made if none is given; the state file has it" },
        { name: :pidfile, kind: :path, flags: ["--pidfile FILE"], joined: Defaults.method(:absolute),
          help: "write the process id to FILE; only one server at a time holds it" },
        { name: :state_path, kind: :path, flags: ["-S", "--state FILE"], joined: Defaults.method(:absolute),
          help: "write to FILE what cuttle ctl needs: process id, URL and token" },
        { name: :state_permission, kind: :permission, flags: ["--state-permission MODE"], default: "0600",
          help: "permissions of the state file" }
      ],

      "Output" => [
        { name: :log_requests, kind: :on_off, flags: ["-v", "--log-requests"], default: "off",
          help: "print a line for each request",
          readme: "print a line for each request on standard output" },
        { name: :log_format, kind: :log_format, flags: ["--log-format FORMAT"], default: "common",
          help: "common, combined, json, or a text with directives such as %h",
          readme: "`common`, `combined`, `json`, or a line of " \
                  "[directives](docs/deployment.md#the-request-log) such as `%h`" },
        { name: :log_sample, kind: :share, flags: ["--log-sample SHARE"], default: 1,
          help: "the share of requests to log; responses with 5xx are always logged" },
        { name: :request_id, kind: :on_off, flags: ["--request-id"], default: "off",
          help: "add an X-Request-Id to requests without one, for the app and the log" },
        { name: :server_timing, kind: :on_off, flags: ["--server-timing"], default: "off", source: true,
          help: "show in responses where their time went (Server-Timing)",
          readme: "add a `Server-Timing` field to each response: [where its time went](docs/observability.md)" },
        { name: :redirect_stdout, kind: :text, flags: ["--redirect-stdout FILE"],
          help: "write standard output to FILE" },
        { name: :redirect_stderr, kind: :text, flags: ["--redirect-stderr FILE"],
          help: "write standard error to FILE" },
        { name: :redirect_append, kind: :on_off, flags: ["--[no-]redirect-append"], default: "off",
          help: "append to these files instead of emptying them at startup" },
        { name: :quiet, kind: :on_off, flags: %w[-q --[no-]quiet], default: "off", help: "print nothing at startup" },
        { name: :debug, kind: :on_off, flags: ["--debug"], default: "off", help: "print backtraces of errors" }
      ]
    }.flat_map { |group, rows| rows.map { |row| Row.new(group: group, **row) } }.freeze
  end
end

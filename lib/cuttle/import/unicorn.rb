# frozen_string_literal: true

module Cuttle
  class Import
    # Unicorn's words.
    module Unicorn
      CONSTANTS = {}.freeze

      # As in Puma::WORDS.
      WORDS = {
        "worker_processes" => ->(count) { [["workers", count]] },
        "listen" => ->(address, options = {}) { [["bind", Unicorn.uri(address, options)]] },
        "timeout" => ->(seconds) { [["worker_timeout", seconds]] },
        "working_directory" => ->(path) { [["directory", path]] },
        "pid" => ->(path) { [["pidfile", path]] },
        "preload_app" => ->(on) { [["preload_app", on]] },
        "stderr_path" => ->(path) { [["redirect_stderr", path], ["redirect_append", true]] },
        "stdout_path" => ->(path) { [["redirect_stdout", path], ["redirect_append", true]] },
        "logger" => "has no equivalent; messages go to standard error",
        "user" => "let systemd or another supervisor choose the user",
        "check_client_connection" => "a request whose client has gone never runs; leave it out",
        "client_body_buffer_size" => "large bodies go to an unnamed file by themselves; leave it out",
        "rewindable_input" => "rack.input is always rewindable; leave it out",
        "default_middleware" => "no middleware is added; leave it out",
        "early_hints" => ->(on) { [["early_hints", on]] },
        "after_worker_exit" => "the supervisor reports on standard error how a worker ended",
        "after_worker_ready" => "the nearest hook is before_worker_boot, which runs before a worker accepts",
        "worker_exec" => "workers are forked, and execute nothing"
      }.freeze

      # Its hook => ours. What Unicorn passes to them, the server and the worker, is not there.
      HOOKS = { "before_fork" => "before_worker_fork", "after_fork" => "before_worker_boot",
                "before_exec" => "before_restart" }.freeze

      FOREIGN = %i[Unicorn].freeze
      RUN = {}.freeze

      # As Puma's.
      HINTS = {
        "before_exec" => "runs in the supervisor, which does not load the app",
        "timeout" => "worker_timeout ends a worker without a sign of life, not one with a slow request: limit " \
                     "requests in the app, or take engine \"reactor\" and app_timeout"
      }.freeze

      class << self
        def known?(word) = WORDS.key?(word) || HOOKS.key?(word)

        # Our lines for what Unicorn does if its file doesn't say otherwise, and we don't.
        def unsaid(calls)
          preload = ["preload_app", false] if calls.none? { |call| call.word == "preload_app" }
          [["like", "unicorn"], *[preload].compact]
        end

        # What the user should check after the translation of +call+; nil: nothing.
        def hint(call, _calls)
          return HINTS[call.word] unless call.word == "listen"

          address, options = call.arguments
          SOCKET if address.to_s.match?(%r{\A(?:unix:)?/}) && options.to_h[:umask].nil?
        end

        # Our lines for +call+. Raises NoEqual.
        def translate(call, _calls)
          return hook(call) if HOOKS.key?(call.word)

          equal = WORDS.fetch(call.word)
          equal.is_a?(String) ? raise(NoEqual, equal) : equal.call(*call.arguments)
        end

        # 8080, "127.0.0.1:8080", "*:8080", ":8080", "/path", "unix:/path"; with the options that we have too.
        def uri(address, options = {})
          case address.to_s
          when %r{\A(?:unix:)?(/.*)} then "unix://#{$1}#{query(options, %i[backlog umask])}"
          when /\A(\d+)\z/, /\A\*?:(\d+)\z/ then "tcp://0.0.0.0:#{$1}#{query(options, %i[backlog reuseport])}"
          else "tcp://#{address}#{query(options, %i[backlog reuseport])}"
          end
        end

        # A backlog below 0 is the system's greatest there.
        def query(options, names)
          given = options.slice(*names).reject { |name, value| value.nil? || (name == :backlog && value < 1) }
          pairs = given.map { |name, value| name == :umask ? "umask=0#{value.to_s(8)}" : "#{name}=#{value}" }
          pairs.empty? ? "" : "?#{pairs.join("&").sub("reuseport", "reuse_port")}"
        end

        def hook(call)
          raise NoEqual, "leave it out" unless call.block
          return [[HOOKS.fetch(call.word)]] unless call.block.reads_parameters?

          raise NoEqual, "#{HOOKS.fetch(call.word)} gets no server and no worker, which its block reads; " \
                         "#{Block::BY_HAND}"
        end
      end
    end
  end
end

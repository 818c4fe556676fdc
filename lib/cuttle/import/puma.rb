# frozen_string_literal: true

module Cuttle
  class Import
    # Puma's words, of versions 3 to 8. A word that our files have too, and that is not named here, is taken as it is.
    module Puma
      autoload :Tls, "cuttle/import/puma/tls"

      CONSTANTS = { DefaultRackup: "config.ru" }.freeze
      FOREIGN = %i[Puma @config @options].freeze

      NO_THREAD_HOOKS = "there are no hooks for threads; make what a thread needs at its first use"
      NO_WARNING = "there is no such warning; leave it out"
      NO_SIGNAL = "no signal makes a worker the process that workers are forked from; refork_after does it by itself"
      NO_AFTER = "the worker that workers are forked from does not serve again; before_worker_boot runs in each new one"

      # Word => why it has no equivalent, or a Proc of its arguments that returns our lines: [[word, argument, …], …].
      WORDS = {
        "queue_requests" => "the event loop always reads whole requests before a thread gets them; leave it out",
        "wait_for_less_busy_worker" => "a worker always leaves connections to one that is less busy; leave it out",
        "drain_on_shutdown" => "what waits in the backlog at a stop is always answered; leave it out",
        "mutate_stdout_and_stderr_to_sync_on_write" => "output is always written at once; leave it out",
        "io_selector_backend" => "the back end is chosen by the system; leave it out",
        "raise_exception_on_sigterm" => "TERM always ends with status 0 when all requests are answered; leave it out",
        "max_fast_inline" => "connections are always taken in turn; leave it out",
        "silence_single_worker_warning" => NO_WARNING, "silence_fork_callback_warning" => NO_WARNING,
        "supported_http_methods" => "every method that is a token is passed to the app, as Rack says",
        "rack_url_scheme" => "a proxy that you name with trust says it (X-Forwarded-Proto), or a middleware sets it",
        "ssl_bind" => ->(host, port, options) { [["bind", Tls.uri(host, port, options)]] },
        "bind" => ->(uri) { [["bind", Tls.checked(uri)]] },
        "tcp_mode" => "serves HTTP only",
        "daemonize" => "a server doesn't daemonize itself; let systemd or another supervisor do that",
        "fork_worker" => lambda { |requests = 1000|
          requests.to_i.positive? ? [["refork_after", "#{requests},none"]] : raise(NoEqual, NO_SIGNAL)
        },
        "nakayoshi_fork" => "memory is compacted before the fork where Ruby can; leave it out",
        "fiber_per_request" => "requests of a thread share its fiber-locals; engine fibers gives each request a " \
                               "fiber, and is another model",
        "clean_thread_locals" => "requests of a thread share its thread-locals; clear them in a middleware",
        "first_data_timeout" => ->(seconds) { [["request_timeout", seconds]] },
        "force_shutdown_after" => lambda { |seconds = :forever|
          raise NoEqual, "a shutdown always has an end: shutdown_timeout" if seconds == :forever

          [["shutdown_timeout", seconds == :immediately ? 0 : seconds]]
        },
        "idle_timeout" => "a server that has nothing to do doesn't end by itself. (Our idle_timeout is another word " \
                          "for persistent_timeout)",
        "max_keep_alive" => ->(count) { [["max_keep_alive", count.to_f.finite? ? Integer(count) : "none"]] },
        "http_content_length_limit" => ->(octets) { [["http_content_length_limit", octets || "none"]] },
        "state_permission" => ->(mode) { [["state_permission", mode.is_a?(Integer) ? format("%04o", mode) : mode]] },
        "quiet" => ->(on = true) { [["log_requests", !on]] },
        "shutdown_debug" => "--app-timeout says where a request is stuck; PWR prints the backtraces of all threads",
        "max_io_threads" => "threads that wait leave the processor to others by themselves; leave it out",
        "plugin" => lambda { |name|
          raise NoEqual, PLUGINS.fetch(name.to_s, "is made for Puma, and has no equivalent") unless plugin?(name)

          [["plugin", name.to_sym]]
        },
        "set_remote_address" => lambda { |from = :socket|
          from == :socket ? [] : raise(NoEqual, remote_address(from))
        },
        "restart_command" => "a hot restart executes the command line that started the server; leave it out",
        "extra_runtime_dependencies" => "the supervisor loads no gems but Cuttle's and those of the configuration " \
                                        "file; leave it out",
        "worker_check_interval" => "workers give a sign of life at least every 5 s; worker_timeout says how long " \
                                   "they may be silent; leave it out",
        "worker_culling_strategy" => "TTOU takes the worker that was added last; leave it out",
        "custom_logger" => "messages go to standard output and standard error; stdout_redirect writes them to files",
        "log_formatter" => "messages are plain lines; log_format shapes those of log_requests",
        "out_of_band" => "no hook runs between requests; rack.response_finished in the env takes what runs after a " \
                         "request",
        "after_refork" => NO_AFTER,
        "before_thread_start" => NO_THREAD_HOOKS, "on_thread_start" => NO_THREAD_HOOKS,
        "before_thread_exit" => NO_THREAD_HOOKS, "on_thread_exit" => NO_THREAD_HOOKS,
        "after_worker_shutdown" => "the supervisor reports on standard error how a worker ended; " \
                                   "before_worker_shutdown runs in a worker that is told to stop",
        "set_default_host" => ->(_host) { [] },
        "clear_binds!" => -> { [] }
      }.freeze

      # Plugins that need no plugin of ours.
      PLUGINS = { "systemd" => "the server notifies systemd by itself; leave it out" }.freeze

      # Words that the recorder obeys.
      RUN = {
        "load" => ->(recorder, arguments, _block) { recorder.load(*arguments) },
        "inject" => ->(recorder, _arguments, block) { recorder.inject(block) },
        "single" => ->(recorder, _arguments, block) { recorder.inject_later(block) { !Puma.workers?(recorder.calls) } },
        "cluster" => ->(recorder, _arguments, block) { recorder.inject_later(block) { Puma.workers?(recorder.calls) } },
        "get" => ->(_recorder, (_name, default), _block) { default },
        "default_host" => ->(recorder, _arguments, _block) { Puma.host(recorder.calls) || "0.0.0.0" }
      }.freeze

      IN_SUPERVISOR = "runs in the supervisor, which does not load the app (with workers 0 it is loaded)"
      PRELOADS = "the app is loaded before the fork, as in Puma 7 with two workers or more; Puma 6, and Puma with " \
                 "one worker, load it in each worker: for that, add preload_app false"

      # Word => what the user should check after its translation.
      HINTS = %w[before_restart on_restart after_booted on_booted after_stopped on_stopped].to_h do |word|
        [word, IN_SUPERVISOR]
      end.freeze

      # A Unix socket that has a file, and no permissions of its own.
      OPEN = %r{\Aunix:(?!(?://)?@)(?!.*[?&](?:umask|mode)=)}

      class << self
        def known?(word)
          ours?(word) || WORDS.key?(word) || RUN.key?(word)
        end

        # Our lines for +call+, one of +calls+. Raises NoEqual.
        def translate(call, calls)
          return listen(call, calls) if %w[bind port ssl_bind].include?(call.word)
          return hook(call) if hook?(call.word)

          case (equal = WORDS[call.word])
          when String then raise NoEqual, equal
          when Proc then instance_exec(*call.arguments, &equal)
          else [[call.word, *call.arguments]]
          end
        end

        # Our lines for what Puma does if its file doesn't say otherwise, and we don't: with prune_bundler it loads the
        # app in each worker.
        def unsaid(calls)
          pruned = last(calls, "prune_bundler")&.then { |call| call.arguments.first != false }
          pruned && !preload_said?(calls) ? [["preload_app", false]] : []
        end

        # What the user should check after the translation of +call+, one of +calls+; nil: nothing.
        def hint(call, calls)
          return SOCKET if call.word == "bind" && OPEN.match?(call.arguments.first.to_s)
          return HINTS[call.word] unless call.word == "workers"

          PRELOADS unless count(calls) == "0" || preload_said?(calls) || unsaid(calls).any?
        end

        # Whether these calls ask for workers.
        def workers?(calls)
          !["", "0"].include?(count(calls) || ENV["WEB_CONCURRENCY"].to_s)
        end

        # The value of set_default_host.
        def host(calls)
          last(calls, "set_default_host")&.arguments&.first
        end

        private

        # The call that counts where a word may be repeated.
        def last(calls, word) = calls.reverse.find { |call| call.word == word }

        # How many workers the file asks for, as text; nil: it does not say.
        def count(calls) = last(calls, "workers")&.arguments&.first&.to_s

        def preload_said?(calls) = calls.any? { |call| %w[preload_app preload_app!].include?(call.word) }

        def ours?(word)
          Configuration::Words.understands?(word)
        end

        # clear_binds! cancels the addresses before it. Puma takes any number of ports; our files take one port, and
        # binds.
        def listen(call, calls)
          cleared = calls.rindex { |other| other.word == "clear_binds!" }
          valid = cleared ? calls.drop(cleared + 1) : calls
          return [] unless valid.any? { |other| other.equal?(call) }
          return port(call, valid, host(calls)) if call.word == "port"

          instance_exec(*call.arguments, &WORDS[call.word])
        end

        def port(call, calls, default)
          number, host = call.arguments
          first = calls.find { |other| other.word == "port" && other.arguments.length == 1 }
          host ||= default || ("0.0.0.0" unless call.equal?(first))
          [["port", number, *host]]
        end

        def hook?(word)
          Configuration::Words::Moments.method_defined?(word)
        end

        # The key that Puma's hooks may have names what they pass on to the next.
        def hook(call)
          return [[call.word]] if call.arguments.empty? || (call.block && call.block.arity < 2)

          raise NoEqual, "hooks don't pass data on; #{Block::BY_HAND}"
        end

        # Whether there is one of ours with that name.
        def plugin?(name)
          Gem.find_files("cuttle/plugin/#{name}.rb").any?
        end

        def remote_address(from)
          return "REMOTE_ADDR is the client's address; a middleware may set it" unless from.is_a?(Hash)
          return "name your balancers with trust, and say proxy_protocol" if from[:proxy_protocol]

          "name your proxies with trust; then REMOTE_ADDR is the client that their X-Forwarded-For names"
        end
      end
    end
  end
end

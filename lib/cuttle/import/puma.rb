# frozen_string_literal: true

module Cuttle
  class Import
    # Puma's words. A word that our files have too is taken as it is; the others are named here.
    module Puma
      CONSTANTS = { DefaultRackup: "config.ru" }.freeze

      # Word => why it has no equal, or a Proc of its arguments that returns lines of ours: [[word, argument, …], …].
      WORDS = {
        "queue_requests" => "the event loop always reads whole requests before a thread gets them; leave it out",
        "early_hints" => "rack.early_hints is always there; leave it out",
        "wait_for_less_busy_worker" => "a worker always leaves connections to one that is less busy; leave it out",
        "drain_on_shutdown" => "what waits in the backlog at a stop is always answered; leave it out",
        "mutate_stdout_and_stderr_to_sync_on_write" => "output is always written at once; leave it out",
        "io_selector_backend" => "the back end is chosen by the system; leave it out",
        "raise_exception_on_sigterm" => "TERM always ends with status 0 when all requests are answered; leave it out",
        "max_fast_inline" => "connections are always taken in turn; leave it out",
        "silence_single_worker_warning" => "there is no such warning; leave it out",
        "silence_fork_callback_warning" => "there is no such warning; leave it out",
        "supported_http_methods" => "every method that is a token is passed to the app, as Rack says",
        "rack_url_scheme" => "the scheme is that of the connection; a middleware may set rack.url_scheme",
        "ssl_bind" => "serves without TLS; let a proxy before it do that",
        "daemonize" => "a server doesn't daemonize itself; let systemd or another supervisor do that",
        "fork_worker" => "workers are forked from the process that loaded the app; leave it out",
        "nakayoshi_fork" => "memory is compacted before the fork where Ruby can; leave it out",
        "fiber_per_request" => [%w[engine fibers]],
        "clean_thread_locals" => [%w[engine fibers]],
        "first_data_timeout" => ->(seconds) { [["request_timeout", seconds]] },
        "force_shutdown_after" => lambda { |seconds = :forever|
          raise NoEqual, "a shutdown always has an end: shutdown_timeout" if seconds == :forever

          [["shutdown_timeout", seconds == :immediately ? 0 : seconds]]
        },
        "shutdown_debug" => "--app-timeout says where a request is stuck",
        "max_io_threads" => "threads that wait leave the processor to others by themselves; leave it out"
      }.freeze

      # What other words of Puma's, of any version, there are.
      OTHERS = %w[activate_control_app after_booted after_refork after_stopped after_worker_boot after_worker_fork
                  after_worker_shutdown before_fork before_refork before_restart before_thread_exit before_thread_start
                  before_worker_boot before_worker_fork before_worker_shutdown bind_to_activated_sockets clear_binds!
                  cluster custom_logger default_host extra_runtime_dependencies get inject log_formatter
                  lowlevel_error_handler on_booted on_refork on_restart on_stopped on_thread_exit on_thread_start
                  on_worker_boot on_worker_fork on_worker_shutdown out_of_band pidfile plugin preload_app!
                  prune_bundler restart_command set_default_host set_remote_address single state_path state_permission
                  stdout_redirect tag tcp_mode worker_boot_timeout worker_check_interval worker_culling_strategy
                  worker_timeout].freeze

      class << self
        def known?(word)
          ours?(word) || WORDS.key?(word) || OTHERS.include?(word)
        end

        # Our lines for +call+. Raises NoEqual.
        def translate(call)
          case (equal = WORDS[call.word])
          when String then raise NoEqual, equal
          when Array then equal
          when Proc then equal.call(*call.arguments)
          else
            raise NoEqual, "has no equal" unless ours?(call.word)

            [[call.word, *call.arguments]]
          end
        end

        private

        def ours?(word)
          Configuration::Words.understands?(word)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Settings
    # Combinations of values that are valid alone but not together. #call has one line for each.
    module Checks
      class << self
        # Raises UsageError.
        def call(settings)
          core(settings)
          tls(settings)
          proxies(settings)
          engine(settings)
          workers(settings)
          ractors(settings)
          refork(settings)
          mould(settings)
          arenas(settings)
          thread_per_connection(settings)
          one_thread(settings)
          auto(settings)
          study(settings)
          native_parser(settings)
          queue(settings)
          app(settings)
          spool(settings)
          drain(settings)
          log(settings)
          control(settings)
        end

        private

        def core(settings)
          reason = Cores.missing(settings.core) or return
          raise UsageError, "core #{settings.core}: #{reason}; leave out --core to use the core in Ruby"
        end

        def tls(settings)
          settings.binds.each do |uri|
            next unless (tls = Listeners.tls(uri))
            raise UsageError, "-b #{uri}: TLS needs --core native" if settings.core != "native"
            next if !tls.bare? || settings.dev_tls

            raise UsageError, "-b #{uri}: name a certificate (?cert=FILE&key=FILE), or use --dev-tls"
          end
        end

        # Any client could claim to be another one.
        def proxies(settings)
          settings.binds.each { |uri| proxied(uri, settings.trust) if Listeners.proxy_protocol(uri) }
          return unless settings.proxy_protocol && settings.trust.empty?

          raise UsageError, "--proxy-protocol needs --trust ADDRESS, which names the proxies"
        end

        def proxied(uri, trust)
          local = uri.start_with?("unix")
          return if trust.any? { |peer| (peer == Kinds::UNIX) == local }

          raise UsageError, "-b #{uri}: proxy_protocol needs --trust #{local ? Kinds::UNIX : "ADDRESS"}, which names " \
                            "the proxies"
        end

        def engine(settings)
          why = Engines.unavailable(settings.engine) or return
          raise UsageError, "engine #{settings.engine} #{why}"
        end

        def workers(settings)
          return if settings.workers.zero? || Process.respond_to?(:fork)

          raise UsageError, "--workers #{settings.workers}: #{RUBY_ENGINE} can't fork; leave out --workers: its " \
                            "threads run in parallel, so one process uses every CPU"
        end

        def ractors(settings)
          if !settings.traits.ractors?
            return unless settings.origin(:ractors) == :flag

            raise UsageError, "engine #{settings.engine} has no ractors: leave out --ractors, or use " \
                              "#{engines(&:ractors?)}"
          elsif settings.workers.positive?
            raise UsageError, "engine #{settings.engine} serves in one process: use --ractors instead of --workers"
          elsif settings.core != "native"
            raise UsageError, "engine #{settings.engine} needs --core native"
          end
        end

        # Without workers it has no effect, as the limits of workers.
        def refork(settings)
          return if settings.refork_after.empty? || settings.core == "native"

          raise UsageError, "--refork-after needs --core native: only its supervisor adopts workers of a worker"
        end

        def mould(settings)
          return if settings.keep_mould || settings.core == "native"

          raise UsageError, "--no-keep-mould needs --core native: without it the supervisor is the mould"
        end

        # A configuration file may be for several Rubies. The variable is glibc's own.
        def arenas(settings)
          count = settings.malloc_arenas or return
          return if settings.core == "native" || settings.origin(:malloc_arenas) != :flag

          raise UsageError, "--malloc-arenas needs --core native: set MALLOC_ARENA_MAX=#{count} instead"
        end

        def thread_per_connection(settings)
          return unless settings.threads.max.zero? && !settings.traits.thread_per_connection?

          raise UsageError, "engine #{settings.engine} has a fixed pool: --threads 0 (a thread per connection) needs " \
                            "#{engines(&:thread_per_connection?)}"
        end

        # A number of threads without an effect would silently spoil a comparison.
        def one_thread(settings)
          return unless settings.origin(:threads) == :flag && settings.threads.max > 1 && !settings.traits.pooled?

          raise UsageError, "engine #{settings.engine} runs the app on one thread: leave out --threads"
        end

        def auto(settings)
          if !settings.threads.is_a?(Engines::Auto)
            limit_without_auto(settings)
          elsif !settings.traits.adaptive?
            raise UsageError, "engine #{settings.engine}: --threads auto needs #{engines(&:adaptive?)}"
          elsif settings.core != "native"
            raise UsageError, "--threads auto needs --core native, which knows when threads wait"
          end
        end

        # A flag may take the place of a file's auto, and leave its limit without effect.
        def limit_without_auto(settings)
          case settings.origin(:max_threads)
          when :flag then raise UsageError, "--max-threads needs --threads auto"
          when :file
            return if %i[flag like].include?(settings.origin(:threads)) || !settings.traits.pooled?

            raise UsageError, "#{settings.place(:max_threads)}: max_threads needs threads :auto"
          end
        end

        def study(settings)
          return unless settings.environment == "production"
          return unless Http::Parsers.fetch(settings.parser).study_only?

          raise UsageError, "parser #{settings.parser} is for study only: it does not serve in production"
        end

        def native_parser(settings)
          return unless settings.parser == "native" && settings.core != "native"

          raise UsageError, "parser native is part of the native core: leave out --parser, or use --core native"
        end

        # A blocking engine reads a request when it has a thread for it.
        def queue(settings)
          return if settings.traits.evented?

          flag = %i[max_queue queue_timeout].find { |name| settings.public_send(name) } or return
          raise UsageError, "engine #{settings.engine} accepts when a thread is free, so its queue is the kernel's " \
                            "backlog: leave out #{Settings.row(flag).flag}, or use #{engines(&:evented?)}"
        end

        # If the app is stuck, another thread must answer for it.
        def app(settings)
          return if settings.traits.evented? || !settings.app_timeout

          raise UsageError, "engine #{settings.engine} leaves a connection to its thread, even if the app is " \
                            "stuck: leave out #{Settings.row(:app_timeout).flag}, or use #{engines(&:evented?)}"
        end

        def spool(settings)
          path = settings.spool_directory
          return if path.nil? || %i[directory? executable? writable?].all? { |test| File.public_send(test, path) }

          word = ": spool_directory" if settings.origin(:spool_directory) == :file
          raise UsageError, "#{settings.place(:spool_directory)}#{word} #{path}: give a directory that exists and " \
                            "that we may write to"
        end

        def drain(settings)
          return unless settings.drain_grace && settings.drain_grace >= settings.shutdown_timeout

          raise UsageError, "--drain-grace #{settings.drain_grace} has to be below " \
                            "--shutdown-timeout #{settings.shutdown_timeout}"
        end

        def log(settings)
          return if settings.log_requests

          flag = %i[log_format log_sample request_id].find { |name| settings.origin(name) == :flag } or return
          raise UsageError, "#{Settings.row(flag).flag} needs --log-requests"
        end

        # Who may connect to a Unix socket is a matter of its permissions. A TCP port is for everybody who can reach it.
        def control(settings)
          if settings.control_url.nil?
            return unless settings.origin(:control_token) == :flag

            raise UsageError, "--control-token needs --control-url"
          elsif settings.control_url.start_with?("ssl:")
            raise UsageError, "--control-url #{settings.control_url}: a control listener does not speak TLS: use " \
                              "tcp://127.0.0.1:port or unix:///path"
          elsif settings.control_url != "auto" && Listeners.proxy_protocol(settings.control_url)
            raise UsageError, "--control-url #{settings.control_url}: a control listener has no proxy in front: " \
                              "leave out proxy_protocol"
          elsif settings.control_url.start_with?("tcp:")
            token(settings)
          end
        end

        def token(settings)
          if settings.control_token == NO_TOKEN
            raise UsageError, "--control-url #{settings.control_url} needs a token: give one, or listen on unix:///path"
          elsif settings.control_token.nil? && settings.state_path.nil?
            raise UsageError, "--control-url #{settings.control_url} needs --control-token, or --state FILE, to " \
                              "which a generated token is written"
          end
        end

        # The flag for the engines whose traits satisfy the block.
        def engines
          names = Engines.names.select { |name| yield Engines.traits(name) }
          "--engine #{[names[0...-1].join(", "), names.last].reject(&:empty?).join(" or ")}"
        end
      end
    end
  end
end

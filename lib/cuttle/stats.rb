# frozen_string_literal: true

module Cuttle
  # The figures of this process' server: for the app (Cuttle.stats), for the control listener, and for a supervisor that
  # asks its workers. They are read on demand and cost requests nothing.
  module Stats
    class << self
      # From now on this process serves with +server+. Its figures include +facts+ (for a worker, index: 2). The process
      # that serves calls this.
      def serve(server, **facts)
        @server = server
        @facts = { pid: Process.pid, **facts }.freeze
      end

      # This process no longer serves.
      def leave
        @server = @facts = nil
      end

      # The figures of this process' server with its pid, as .of. Empty if this process serves nothing: a console, a
      # child that the app forked, the supervisor. Empty in a ractor that is not the main one. From any thread.
      def current
        return {} unless shared? && @facts && @facts[:pid] == Process.pid

        { **@facts, **of(@server) }
      end

      # The figures of +server+: the keys of Puma's stats, and those of Server#stats.
      #
      #   backlog         complete requests that wait for a thread
      #   running         threads that run the app
      #   max_threads     as many there may be; nil if there is no limit
      #   auto_threads    1 if the engine chooses their number (--threads auto), otherwise 0
      #   busy_threads    requests in the app
      #   pool_capacity   as many more requests the app would get at once; nil if there is no limit
      #   requests_count  requests since the start, without those that wait
      def of(server)
        stats = server.stats
        busy = stats.fetch(:busy, 0)
        capacity = finite(server.settings.traits.capacity(**server.for_engine))
        {
          backlog: stats.fetch(:ready, 0), running: stats.fetch(:threads, 0), max_threads: max_threads(server),
          auto_threads: server.auto_threads? ? 1 : 0,
          busy_threads: busy, pool_capacity: capacity && [capacity - busy, 0].max,
          requests_count: stats.fetch(:requests, 0), **stats
        }
      end

      # The memory of a process, in octets: its proportional set size, in which a page that n processes share counts for
      # one nth in each. nil if the process has ended, or the system does not say.
      def memory(pid)
        kilobytes = File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s*(\d+)/, 1]
        kilobytes && (kilobytes.to_i * 1024)
      rescue SystemCallError
        nil
      end

      # What runs here: {cuttle: "0.1.0", ruby: {engine:, version:, patchlevel:}}.
      def versions
        { cuttle: VERSION, ruby: { engine: RUBY_ENGINE, version: RUBY_VERSION, patchlevel: RUBY_PATCHLEVEL } }
      end

      private

      # A module's variables belong to the main ractor.
      def shared?
        !defined?(::Ractor) || ::Ractor.current == ::Ractor.main
      end

      def max_threads(server)
        server.threads.max.zero? ? nil : server.threads.max * server.settings.ractors
      end

      def finite(number)
        number if number.finite?
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Control
    # Controls a Cluster, or the Worker that serves alone (-w 0). Both have #figures (Cluster::Figures,
    # Worker::Figures), #ready? and #signal, and obey a command as they obey the corresponding signal. Any thread may
    # call these methods, which return at once.
    class Commands
      # Command => signal. HALT is one of our own: it ends the server without waiting for requests.
      SIGNALS = {
        "stop" => "TERM", "halt" => "HALT", "restart" => "USR2", "phased-restart" => "USR1", "reload-logs" => "HUP",
        "add-worker" => "TTIN", "remove-worker" => "TTOU", "thread-backtraces" => Signals::DUMP.first
      }.freeze

      # Seconds for which figures of memory are reused, because the system walks all pages of a process to compute them.
      MEMORY = 5

      # The name of the directory to serve in. If it is a link, it may lead to a newer release by now.
      attr_reader :directory

      # +cluster+: whether the process has workers. +files+: whether its output goes to files. +directory+: see there.
      def initialize(process, cluster:, files:, directory:)
        @process = process
        @cluster = cluster
        @files = files
        @directory = directory
        @lock = Mutex.new
      end

      # The keys of Puma's stats, and ours; times as in 2026-11-23T16:44:46Z.
      def stats
        plain({ started_at: nil, versions: Stats.versions, **@process.figures.stats })
      end

      # All metrics, as Telemetry::Metrics reads them.
      def measures
        owners = @process.figures.owners
        { versions: Stats.versions, ready: ready?, **@process.figures.measures, owners: owners,
          memory: memory(owners.values.flatten) }
      end

      # What `cuttle top` and `cuttle advise` need, for JSON: the engine's name; stats; by pid, memory in octets, and
      # histograms, {phase: {count:, sum:, buckets: [[upper bound, count], …]}} in nanoseconds, without empty buckets.
      def top
        figures = @process.figures
        { engine: figures.engine, stats: stats, memory: memory(figures.owners.values.flatten),
          ledgers: figures.ledgers.transform_values { |ledger| ledger.transform_values { |phase| thin(phase) } } }
      end

      # A process that can answer is alive.
      def live? = true

      def ready?
        @process.ready?
      end

      # Raises UsageError for a command that this process can't obey.
      def command(name)
        return threads if name == "thread-backtraces" && !@cluster

        reason = obstacle(name) and raise UsageError, "#{name}: #{reason}"
        @process.signal(SIGNALS.fetch(name))
      end

      private

      def obstacle(name)
        case name
        when "add-worker", "remove-worker" then "there are no workers (-w 0)" unless @cluster
        when "reload-logs" then "the output goes to no files" unless @files # the signal would stop the server
        when "restart", "phased-restart" then "#{RUBY_ENGINE} can't do that" if Signals::RESTART.empty?
        when "thread-backtraces" then "this system has no signal for that" if Signals::DUMP.empty?
        end
      end

      def threads
        Thread.list.map { |thread| { name: thread.name || thread.inspect, backtrace: thread.backtrace } }
      end

      # If another thread is reading it, the caller gets the previous figures, because a probe may need this thread.
      def memory(pids)
        return @memory || {} unless @lock.try_lock

        begin
          return @memory if @memory && Cuttle.now < @memory_until && (pids - @memory.keys).empty?

          @memory = pids.to_h { |pid| [pid, Stats.memory(pid)] }.freeze
          @memory_until = Cuttle.now + MEMORY
          @memory
        ensure
          @lock.unlock
        end
      end

      def thin(phase)
        full = Ledger::BOUNDS.zip(phase[:buckets]).reject { |_, count| count.nil? || count.zero? }
        { **phase, buckets: full.map { |bound, count| [bound.to_f.finite? ? bound : nil, count] } } # null: no bound
      end

      def plain(value)
        case value
        when Hash then value.transform_values { |each| plain(each) }
        when Array then value.map { |each| plain(each) }
        when Time then value.getutc.strftime("%FT%TZ")
        else value
        end
      end
    end
  end
end

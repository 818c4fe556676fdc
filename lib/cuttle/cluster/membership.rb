# frozen_string_literal: true

module Cuttle
  class Cluster
    # The things that every process of a cluster has: the supervisor makes them, moulds and workers inherit them.
    class Membership
      # Signals that mean nothing to a mould or a worker, but that a terminal or an operator may send to all processes.
      FOREIGN = %w[TTIN TTOU USR1 USR2].freeze

      attr_reader :settings, :directory, :listeners, :hooks, :report, :redirection, :scoreboard, :wire, :supervisor,
                  :handover

      # +report+ takes one line for the user. +directory+ is a Restart::Directory.
      def initialize(settings:, directory:, listeners:, hooks:, report:, redirection:)
        @settings = settings
        @directory = directory
        @listeners = listeners
        @hooks = hooks
        @report = report
        @redirection = redirection
        @scoreboard = scoreboard_for(settings)
        @lifeline, @life = IO.pipe # workers read it; it ends when the supervisor does
        @wire = Wire.new
        @handover = Handover.new if settings.refork_after.any?
        @supervisor = Process.pid
        @foreign = []
      end

      # The end of the lifeline that only a supervisor may have.
      attr_reader :life

      # What only the supervisor may have, and forked processes close, each with #close.
      def keep(*parts)
        @foreign.concat(parts)
      end

      # The supervisor gives it up.
      def drop(part)
        @foreign.delete(part)
      end

      # In a process that was forked from the supervisor, or from one that was: closes what is the supervisor's own.
      def enter
        @foreign.each(&:close)
        @foreign = []
        @life.close
        @wire.close_reader unless @wire.reader.closed?
        FOREIGN.each { |name| trap(name) { nil } }
        trap("CHLD", "DEFAULT")
      end

      # Calls the block, which forks another process of the cluster. That process keeps the listeners; a child that the
      # app forks doesn't.
      def pass_on(&block)
        @listeners.pass_on(&block)
      end

      # Calls the block in a mould or a worker. If the supervisor dies during the block, the process ends at once. It is
      # for work that may take long or never end, while no other thread watches the lifeline.
      def with_supervisor
        watch = Thread.new { @lifeline.wait_readable && exit!(1) }
        watch.name = "cuttle lifeline"
        yield
      ensure
        watch.kill.join
      end

      # The text that a process title ends with.
      def tag
        " [#{@settings.tag}]" unless @settings.tag.to_s.empty?
      end

      # The keywords for a Worker.
      def for_worker(index, place)
        { report: @report, parent: @lifeline, hooks: @hooks, redirection: @redirection, index: index,
          succeed: (method(:succeed) if @handover), watched: @scoreboard.method(:watched?),
          tell: ->(event, **facts) { @wire.tell(event, place: place, pid: Process.pid, **facts) } }
      end

      # The commands for this process, which was a worker and is a mould now.
      attr_reader :commands

      def close
        [@lifeline, @life, @wire, @handover].compact.each(&:close)
      end

      private

      # In a worker that is asked to become the mould: takes the pipe of commands, and copies the listeners, because the
      # engine closes its own when it ends. Returns whether this process was asked.
      def succeed
        @commands = @handover.accept or return false
        @listeners = @listeners.copy
        true
      end

      # One for each worker, and for two that take the place of others. A relay is two descriptors in each process: they
      # may be a quarter of those that a process can have. Workers beyond that have no relay.
      def relays(settings)
        return 0 unless settings.relay && settings.workers > 1

        [settings.workers + 2, Process.getrlimit(:NOFILE).first / 8].min
      end

      def scoreboard_for(settings)
        kind = Cores.fetch(settings.core)::Scoreboard
        kind.new([settings.workers + ADDED, kind::MOST].min, 1, relays(settings))
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  # The supervisor: keeps the workers alive, restarts and stops them. It never serves and never runs the app: a mould
  # process loads the app, and workers are forked from it, so they share its memory. It sleeps until a signal, a message
  # or a deadline wakes it.
  #
  #   INT, TERM, QUIT    stop: every worker finishes its requests under way. A second INT kills them
  #   HUP                open the output files again; without such files: as INT
  #   TTIN, TTOU         one worker more, one fewer
  #   USR1               phased restart: new code in a new mould, then worker by worker (Renewal)
  #   USR2               hot restart: this process executes the program again (HotRestart); the earlier workers serve
  #                      until the new ones do
  #   PWR, INFO          every worker prints the backtraces of its threads
  #
  # A worker whose supervisor dies stops by itself as at TERM. A Scoreboard shows each worker how many connections every
  # worker has. A worker leaves new connections to a worker that has fewer and a free thread.
  class Cluster
    autoload :Bundle, "cuttle/cluster/bundle"
    autoload :Cpus, "cuttle/cluster/cpus"
    autoload :Figures, "cuttle/cluster/figures"
    autoload :Forge, "cuttle/cluster/forge"
    autoload :Handover, "cuttle/cluster/handover"
    autoload :Heritage, "cuttle/cluster/heritage"
    autoload :HotRestart, "cuttle/cluster/hot_restart"
    autoload :Idleness, "cuttle/cluster/idleness"
    autoload :Inline, "cuttle/cluster/inline"
    autoload :Membership, "cuttle/cluster/membership"
    autoload :Mould, "cuttle/cluster/mould"
    autoload :Moulds, "cuttle/cluster/moulds"
    autoload :Parting, "cuttle/cluster/parting"
    autoload :Refork, "cuttle/cluster/refork"
    autoload :Relief, "cuttle/cluster/relief"
    autoload :Renewal, "cuttle/cluster/renewal"
    autoload :Slot, "cuttle/cluster/slot"
    autoload :Solitude, "cuttle/cluster/solitude"
    autoload :Strangers, "cuttle/cluster/strangers"
    autoload :Tally, "cuttle/cluster/tally"
    autoload :Wear, "cuttle/cluster/wear"
    autoload :Wire, "cuttle/cluster/wire"
    autoload :Workers, "cuttle/cluster/workers"

    # The number of workers that may be added with a place in the scoreboard. Further workers serve without a place.
    ADDED = 32

    SIGNALS = (Signals::STOP + Signals::RESTART + Signals::DUMP + Signals::WORKERS + %w[CHLD]).freeze

    # +app+ is called in the mould and returns the Rack app. +membership+ is a Membership, +heritage+ the Heritage of a
    # hot restart, +restart+ a Restart, or nil if this program can't be executed again. +renewable+: whether +app+ loads
    # the code, so that a new mould has new code.
    def initialize(app, membership, heritage:, restart: nil, renewable: true)
      @cluster = membership
      @settings = membership.settings
      @heritage = heritage
      @renewable = renewable
      @workers = Workers.new(membership)
      @workers.adopt(heritage.workers, heritage.serving)
      @least = [@settings.workers, heritage.serving.length].select(&:positive?).min
      @moulds = Moulds.new(Forge.new(app, membership), membership, @workers)
      @moulds.adopt(heritage.moulds)
      @wear = Wear.new(@settings, @workers, membership.report)
      @refork = Refork.new(@settings, @workers, @moulds, membership.report)
      @idleness = Idleness.new(@settings, @workers, @moulds)
      @hot_restart = HotRestart.new(restart, heritage, membership, @workers, @moulds)
      @figures = Figures.new(membership, @workers, @moulds)
    end

    # See Figures.
    attr_reader :figures

    # Returns the exit status: 0, or 1 if the stop cut requests or hooks off, or killed a worker, or the app can't be
    # loaded. Yields the number of workers once the app is loaded and signals are handled.
    def run(&booted)
      @booted = booted
      # A process that has no descriptors left can load no file.
      [Bundle, Handover, Memory, Mould, Parting, Relief, Renewal, Solitude, Worker].each(&:name)
      @signals = Signals.new(SIGNALS, files: @cluster.redirection.any?)
      @heartbeat = Notify::Heartbeat.new
      @strangers = Strangers.new { @workers.pids + @moulds.pids }
      @cluster.keep(@signals, @heritage)
      @moulds.start
      @settings.workers.times { @workers.add(@moulds.current) }
      supervise until over?
      parted? && @workers.clean? && !@moulds.failed? ? 0 : 1
    ensure
      @heritage.close
      @signals&.release
      @cluster.close
    end

    # Whether the wanted number of workers accepts connections and will continue to. A restart does not change that.
    def ready?
      !leaving? && (@complete ? @workers.whole? : @workers.serving.length >= @least)
    end

    # What a signal does. Any thread may call it.
    def signal(name)
      raise UsageError, "the server is only just starting" unless @signals

      @signals.add(name)
    end

    private

    # Whether it has been told to stop.
    def leaving? = @stopping || @draining

    def over?
      (@stopping && @workers.empty? || @moulds.failed?) && @moulds.empty?
    end

    # Runs the last hooks. Returns whether they have ended.
    def parted?
      Parting.new(@cluster.hooks, @signals, @heartbeat, @cluster.report).run(@halted ? Worker::LAST : Worker::PARTING)
    end

    def supervise
      @signals.wait(wake_in(Cuttle.now), @cluster.wire.reader).each { |signal| obey(signal) }
      now = Cuttle.now
      @heartbeat.beat(now)
      ended = @workers.reap # before the wire is read, so that nobody says anything afterwards
      @cluster.wire.read.each { |message| hear(message, now) }
      @workers.bury(ended, now)
      @workers.tend(now)
      @moulds.tend(now)
      @strangers.tend(now)
      replace(now) unless leaving?
      proceed(now)
    end

    # Never two workers at once.
    def replace(now)
      @refork.tend(now, still: @complete && @moulds.still? && @wear.still?)
      @wear.tend(now, @moulds.current, still: @complete && @moulds.still? && @refork.still?)
      @idleness.tend(now, still: @complete && @moulds.still? && @wear.still? && @refork.over?)
    end

    def wake_in(now)
      times = [@workers, @moulds, @wear, @refork, @idleness, @heartbeat, @strangers].map { |part| part.wake_in(now) }
      [*times, @draining && [@draining - now, 0].max].compact.min
    end

    def obey(signal)
      act_on(signal)
    rescue StandardError => error
      @cluster.report.call("#{signal}: #{Error.line(error)}") # and the workers are kept alive
    end

    def act_on(signal)
      case signal
      when "CHLD" then @strangers.look_soon(Cuttle.now)
      when "TTIN" then @workers.add(@moulds.current) unless @stopping
      when "TTOU" then remove
      when "USR1" then @renewable && @moulds.renewable? ? renew : rehearse
      when "USR2" then rehearse
      when "HUP" then @cluster.redirection.any? ? reopen : stop(signal)
      when "RESTART" then relaunch
      when "HALT" then halt
      when *Signals::DUMP then @workers.signal_all(signal)
      when *Signals::STOP then stop(signal)
      end
    end

    def hear(message, now)
      return @workers.hear(message, now) unless message.event == :loaded

      @moulds.hear(message.facts[:pid])
      fit(message.facts[:pid]) if @booted
    end

    # The app is loaded for the first time. With --workers auto, a worker for which there is no memory is never started.
    def fit(mould)
      return unless @settings.auto?(:workers) && @settings.preload

      octets = Stats.memory(mould)
      wanted = @workers.staying.length
      room = Memory.workers(octets, wanted)
      return if room == wanted

      @workers.limit(room)
      @cluster.report.call("--workers auto: #{room} instead of #{wanted}, " \
                           "because the loaded app takes #{octets >> 20} MB")
    end

    # Does what the present state requires.
    def proceed(now)
      stop_now if @draining && @draining <= now
      return if @stopping || !@moulds.current.loaded?

      announce if @booted
      all_ready if !@complete && @workers.ready?
      @heritage.close if @workers.elders.empty?
    end

    # The app is loaded for the first time.
    def announce
      @booted&.call(@workers.staying.length)
      @booted = nil
    end

    # For the first time, every worker accepts connections.
    def all_ready
      @complete = true
      Notify.ready("serving with #{@workers.staying.length} workers")
      @workers.elders.each { |slot| @workers.retire(slot) }
      @heartbeat.during { @cluster.hooks.attempt(:after_booted) }
    end

    # The last worker stays. A worker and its replacement count as one, and both stay. A worker that boots goes first:
    # the others may be the only ones that serve.
    def remove
      reliefs = [@moulds.relief, @wear.relief, @refork.relief].compact
      alone = @workers.staying - reliefs.flat_map(&:pair)
      return unless alone.any? && alone.length + reliefs.length > 1

      @workers.retire(alone.reject(&:ready?).last || alone.last)
    end

    def reopen
      @cluster.redirection.reopen
      @moulds.reopen
      @workers.signal_all("HUP")
    end

    # --drain-delay: readiness ends at once, and balancers have the delay to notice.
    def stop(signal)
      return halt if leaving? && signal == "INT"
      return stop_now unless @settings.drain_delay

      @draining ||= Cuttle.now + @settings.drain_delay unless @stopping
    end

    # Waits for no request.
    def halt
      @halted = true
      stop_now unless @stopping
      @workers.kill
    end

    # From now on new connections are refused. Otherwise they would wait for a worker that never comes. Whatever fails
    # before, the workers stop.
    def stop_now
      @draining = nil
      @stopping = true
      Notify.stopping
      @hot_restart.abandon
      @cluster.listeners.close
    rescue StandardError => error
      @cluster.report.call("stop: #{Error.line(error)}")
    ensure
      @workers.stop
      @refork.abandon
      @moulds.stop
    end

    # Restarts

    # New code in a new mould: no worker of the old code is to become one.
    def renew
      return if leaving?

      @refork.abandon
      @moulds.renew
    end

    # Tries the program in its present state. If it boots, RESTART follows.
    def rehearse
      @hot_restart.rehearse { signal("RESTART") } unless leaving?
    end

    # Becomes the new program, unless a signal to stop comes first.
    def relaunch
      @hot_restart.execute(@signals) unless leaving?
    end
  end
end

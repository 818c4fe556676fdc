# frozen_string_literal: true

module Cuttle
  # The part of serving that one process does: an app, the listeners, and an engine between them. Without workers it is
  # the whole server; with workers each of them runs one. In your own program:
  #
  #   server = Cuttle::Server.new(app, engine: "threads", threads: 5)  # 127.0.0.1, a free port
  #   server.start                                                     # returns once the server accepts connections
  #   Net::HTTP.get(URI(server.url))
  #   server.stop                                                      # answers requests under way, then returns
  #
  # #run or #start makes the source and the engine, so a worker makes them after the fork.
  class Server
    # Seconds that WebSockets have at most for their end.
    FAREWELL = 2

    # Seconds between two looks at them.
    LOOK = 0.025

    attr_reader :settings

    # +app+ is a Rack app. The other options are those of Settings, and +host+ and +port+ (0: the kernel chooses) for a
    # single TCP listener. Environment variables are ignored. Pass +settings+ and +listeners+ if you have made them
    # already; the server does not close listeners that were passed, but removes their files when it stops (see
    # Listeners#unlink). +scoreboard+ is the one of the workers that accept from the same listeners, in which this
    # process has taken a place; without it the server makes its own. +failure+ answers for an app that raises (see
    # Rack::Adapter). +collects+: whether it collects garbage between requests. Pass false for a server beside another
    # one, whose requests that would delay. Raises UsageError.
    def initialize(app, host: "127.0.0.1", port: 0, settings: nil, listeners: nil, scoreboard: nil, failure: nil,
                   collects: true, **options)
      options[:binds] ||= ["tcp://#{host.include?(":") ? "[#{host}]" : host}:#{port}"]
      @app = app
      @settings = settings || Settings.build(variables: {}, **options)
      @given = listeners
      @scoreboard = scoreboard
      @failure = failure
      @collects = collects
      @lock = Mutex.new
    end

    # Serves in a new thread. Returns as soon as connections are accepted. Raises Error if it can't listen.
    def start
      raise Error, "the server runs already" if @thread

      prepare
      @thread = Thread.new do
        serve
        close_websockets
      end
      @thread.name = "cuttle"
      @thread.report_on_exception = false # #wait and #stop raise it
      self
    end

    # Serves on the calling thread. Returns after #stop or #stop_soon, when every request is answered. Sockets that the
    # app has taken over are open then: it may end them itself, before the caller calls #close_websockets.
    def run
      prepare
      serve
    end

    # Listens, and makes the source and the engine. Call it in the process that will serve. #start and #run call it if
    # needed.
    def prepare
      @engine || assemble
    end

    # Loads the code that serves, so that forked processes share it.
    def preload
      Engines.fetch(settings.engine)
      recipe.tap(&:preload).build
      parser
      Watchdog
    end

    # Stops accepting, answers the requests under way, then returns. Gives up after shutdown_timeout seconds. Raises the
    # exception that ended the engine, if there was one.
    def stop
      stop_soon
      @thread&.join(settings.shutdown_timeout) || @thread&.kill
      wait
    end

    # Asks the engine to stop, and returns at once. May be called from any thread and from a trap handler.
    # +leave_backlog+: connections that nobody has accepted yet are left to other processes that listen on the same
    # sockets, and not answered here first.
    def stop_soon(leave_backlog: false)
      @stop ||= { leave_backlog: leave_backlog }
      @listeners&.unlink unless @stop[:leave_backlog] # before the engine closes the sockets
      @engine&.stop(**@stop)
      @told = true
    end

    # After a stop: sends a Close frame with the status 1001 on each WebSocket that the app has left open, once nothing
    # is under way on it, and ends it. Waits for the app to close its side. Takes +seconds+ at most, and never more than
    # FAREWELL. Leaves the other sockets that the app has taken over as they are. Returns how many got a frame, and how
    # many got none because the app was still sending, or the client did not read.
    def close_websockets(seconds = FAREWELL)
      return [0, 0] unless @hijacked && core::Hijacked::TELLS

      deadline = Cuttle.now + [seconds, FAREWELL].min
      sleep LOOK while @hijacked.part.positive? && Cuttle.now < deadline
      @hijacked.told
    end

    # Whether it accepts connections: it runs, and its engine was not told to stop. So an app that waits for the stop
    # returns to an engine that takes no more than it has to. Any thread may call it.
    def serving?
      @serving && !@told ? true : false
    end

    # Returns when a started server has ended.
    def wait
      @thread&.join
      nil
    end

    # Makes what secures the connections of +listeners+, if anything does. Call it before the fork. Returns +listeners+.
    # Raises Error.
    def self.secure(listeners, settings)
      return listeners unless listeners.secure?

      listeners.secure(Cores.tls(settings.core)) { Listeners::DevCertificate.new.files }
    end

    # Whether some connections are secured.
    def secure? = listeners.secure?

    # Reads certificates again whose files have changed and are complete; to be called every few seconds. +now+ is the
    # time in seconds. Raises nothing.
    def refresh(now = Cuttle.now)
      listeners.refresh(now)
    end

    # Gives whole pages of the memory that malloc keeps free back to the system. It takes one to three milliseconds for
    # 100 MB, without the GVL. A thread that allocates meanwhile may wait as long. Returns whether the core can do it.
    def trim = core.trim_memory

    # The URIs that clients use.
    def uris
      listeners.uris
    end

    def url
      uris.first
    end

    def port
      listeners.port
    end

    # Calls the block, in a separate thread, whenever a request is stuck in the app (app_timeout) and was reported on
    # $stderr. Call this before #run or #start.
    def when_stuck(&block)
      @when_stuck = block
    end

    # After a stop: whether the only requests left are stuck in the app and were already answered with 503.
    def stranded?
      [@engine, @source].any? { |part| part.respond_to?(:stranded?) && part.stranded? }
    end

    # The threads that this process may have, a Range. With --threads auto they are known once it is prepared, because
    # a database pool of the app limits them, unless --max-threads was given.
    def threads
      @threads || settings.threads
    end

    # Whether the engine chooses the number of its threads (--threads auto).
    def auto_threads? = threads.is_a?(Engines::Auto)

    # The keywords for the engine.
    def for_engine
      { **settings.for_engine, threads: threads }
    end

    # Counters of the engine (Hash of Integers); empty before it runs.
    #
    #   connections   open connections
    #   accepted      connections since the start
    #   requests      requests since the start, without those that wait for a thread
    #   dropped       requests since the start whose clients disconnected before a thread took them
    #   unproxied     connections of trusted proxies since the start that were closed for want of a PROXY header
    #   threads       threads that run the app
    #   busy          requests in the app
    #   hijacked      sockets that the app has taken over (WebSockets) and not closed; absent on JRuby
    #
    # Evented engines add ready (complete requests that wait for a thread), stood_by (times that a thread left work to
    # the threads in the app) and relayed (requests given to other workers). fibers adds fibers (requests that have
    # one).
    def stats
      return {} unless @engine

      { **@engine.stats, hijacked: @hijacked.count }.compact
    end

    # Where the requests of this process spent their time: see Ledger. Empty before it runs, and for a worker without a
    # place in the scoreboard. Any thread may call it.
    def ledger
      place = @scoreboard&.place
      place ? @scoreboard.ledger(place) : {}
    end

    private

    def listeners
      @lock.synchronize { @listeners ||= @given || listen }
    end

    def listen
      listeners = Listeners.open(settings.binds)
      Server.secure(listeners, settings)
    rescue StandardError
      listeners&.close
      raise
    end

    def assemble
      listeners
      model = Engines.fetch(settings.engine)
      @scoreboard ||= own_scoreboard
      @hijacked = core::Hijacked.new
      @threads = auto if settings.threads.is_a?(Engines::Auto)
      @source = source(model)
      @source.leave_garbage if !@collects && @source.respond_to?(:leave_garbage)
      @recipe = recipe.tap(&:preload) # because a process without free descriptors can't load a file
      @engine = model.new(source: @source, service: settings.traits.ractors? ? @recipe : @recipe.build,
                          **for_engine)
      @engine.stop(**@stop) if @stop # #stop_soon came before there was an engine
    end

    def serve
      watchdog = watch if settings.app_timeout && @source.respond_to?(:stuck)
      @serving = true
      @engine.run
    ensure
      @serving = false
      watchdog&.stop
      @listeners.close unless @given
      @recipe.flush
    end

    def watch
      report = ->(text) { Cuttle.report(text) }
      Watchdog.new(@source, limit: settings.app_timeout, report: report, &@when_stuck).start
    end

    def source(model)
      model.source(listeners.sockets, core: core, env: env, parser: parser, scoreboard: @scoreboard,
                                      hijacked: @hijacked,
                                      **settings.for_source, **{ tls: listeners.tls }.compact,
                                      proxy_protocol: listeners.proxy_protocols(settings.proxy_protocol))
    end

    # For this process alone, and made in it, because a copy in a forked child would count for both.
    def own_scoreboard
      core::Scoreboard.new(1, settings.ractors).tap { |scoreboard| scoreboard.take(0) }
    end

    def recipe
      Service::Recipe.new(@app, settings.docroot, @app.equal?(Rack::Loader::NOT_FOUND), access_log, core,
                          @failure)
    end

    def access_log
      { format: settings.log_format, sample: settings.log_sample, ids: settings.request_id } if settings.log_requests
    end

    def env
      Rack.env(multithread: reentered?, multiprocess: settings.workers.positive?)
    end

    # Whether an app may be called while it still answers another request of this process.
    def reentered?
      settings.traits.capacity(**for_engine) > 1
    end

    def auto
      Memory.room? # loads all that it needs, as in #assemble
      most = settings.max_threads
      most = Engines::Auto.limit(DatabasePools.least, most) if settings.origin(:max_threads) == :default
      Engines::Auto.new(most, cores: settings.threads.cores) { Memory.room? }
    end

    def core
      Cores.fetch(settings.core)
    end

    def parser
      core.parser(settings.parser)
    end
  end
end

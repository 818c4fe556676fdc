# frozen_string_literal: true

module Cuttle
  # One process's share of serving: an app, the listeners, and an engine between them. The whole server where nothing
  # forks, and what each worker of a cluster runs. In a program of your own:
  #
  #   server = Cuttle::Server.new(app, engine: "threads", threads: 5)  # 127.0.0.1, a free port
  #   server.start                                                     # accepts once this returns
  #   Net::HTTP.get(URI(server.url))
  #   server.stop                                                      # answers what is under way, then returns
  #
  # Its source and engine are made by whoever calls #run or #start, so that a worker makes them after the fork.
  class Server
    attr_reader :settings

    # +app+ is a Rack app. The rest are Settings' options, and for a single TCP listener
    # +host+ and +port+ (0: the kernel chooses). Environment variables are not looked at.
    # +settings+ and +listeners+ are for those who have made them already; listeners given are not closed here.
    # +scoreboard+ is that of the workers who accept from them too. Raises UsageError.
    def initialize(app, host: "127.0.0.1", port: 0, settings: nil, listeners: nil, scoreboard: nil, **options)
      options[:binds] ||= ["tcp://#{host.include?(":") ? "[#{host}]" : host}:#{port}"]
      @app = app
      @settings = settings || Settings.build(variables: {}, **options)
      @given = listeners
      @scoreboard = scoreboard
      @lock = Mutex.new
    end

    # Serves in a thread of its own; returns as soon as connections are accepted. Raises Error where it can't listen.
    def start
      raise Error, "the server runs already" if @thread

      prepare
      @thread = Thread.new { serve }
      @thread.name = "cuttle"
      @thread.report_on_exception = false # #wait and #stop raise it
      self
    end

    # Serves on the calling thread until #stop (or #stop_soon) was called and every request was answered.
    def run
      prepare
      serve
    end

    # Listens, and makes source and engine, in the process that will serve. #start and #run do it where nobody has.
    def prepare
      @engine || assemble
    end

    # Loads the code that serves, so that processes forked from this one share it.
    def preload
      Engines.fetch(settings.engine)
      service
      parser
      Watchdog
    end

    # Stops accepting, answers what is under way, and returns then; after shutdown_timeout seconds it gives up.
    # Raises what ended the engine, if it wasn't this.
    def stop
      stop_soon
      @thread&.join(settings.shutdown_timeout) || @thread&.kill
      wait
    end

    # Tells the engine to stop, and returns at once. May be called from any thread and from a trap handler.
    def stop_soon
      @stopped = true
      @engine&.stop
    end

    # Returns when a started server has ended.
    def wait
      @thread&.join
      nil
    end

    # The URIs that clients reach it by.
    def uris
      listeners.uris
    end

    def url
      uris.first
    end

    def port
      listeners.port
    end

    # Calls the block, in a thread of its own, whenever a request was found stuck in the app (app_timeout) and told of on
    # $stderr. To be said before #run or #start.
    def when_stuck(&block)
      @when_stuck = block
    end

    # After a stop: whether only requests are left that are stuck in the app, and have been answered for it.
    def stranded?
      @source.respond_to?(:stranded?) && @source.stranded?
    end

    # Counters of the engine (Hash of Integers); empty before it runs. connections: open ones; accepted, requests and
    # dropped: since the start, the last being requests whose clients had gone before a thread took them; threads: those
    # that run the app; busy: requests in the app. Evented engines have ready (complete requests that wait for a thread)
    # and stood_by (times that a thread left work to those in the app), fibers has fibers (requests that have one).
    def stats
      @engine ? @engine.stats : {}
    end

    private

    def listeners
      @lock.synchronize { @listeners ||= @given || Listeners.open(settings.binds) }
    end

    def assemble
      listeners
      model = Engines.fetch(settings.engine)
      @source = source(model)
      @engine = model.new(source: @source, service: service, **settings.for_engine)
      @engine.stop if @stopped # a stop that came while there was no engine to hear it
    end

    def serve
      watchdog = watch if settings.app_timeout
      @engine.run
    ensure
      watchdog&.stop
      @listeners.close unless @given
    end

    def watch
      report = ->(text) { $stderr.write("cuttle: #{text}\n") }
      Watchdog.new(@source, limit: settings.app_timeout, report: report, &@when_stuck).start
    end

    def source(model)
      model.source(listeners.sockets, env: env, parser: parser, scoreboard: @scoreboard, **settings.for_source)
    end

    def service
      Service.build(app: Rack::Adapter.new(@app), static: static, log: log)
    end

    def env
      Rack.env(multithread: reentered?, multiprocess: settings.workers.positive?)
    end

    # Whether an app may be called while it still answers another request of this process.
    def reentered?
      settings.traits.capacity(**settings.for_engine) > 1
    end

    def parser
      Http::Parsers.fetch(settings.parser) unless settings.parser == "native"
    end

    def static
      settings.docroot && Static.new(settings.docroot, content_types: Rack::ContentTypes,
                                                       final: @app.equal?(Rack::Loader::NOT_FOUND))
    end

    def log
      settings.log_requests ? Telemetry::AccessLog.new($stdout) : nil
    end
  end
end

# frozen_string_literal: true

module Cuttle
  # Starts a server from settings and runs it in the foreground until a signal stops it: loads the app, listens,
  # announces that, and serves from this process or from forked ones. The command line and the rackup handler start
  # here.
  class Launcher
    PUMA = "config/puma.rb"

    # +app+ is the app if the caller has one. Otherwise settings.path is loaded. +configuration+ has hooks and plugins.
    # +host+ is the program in whose process this one runs (Rack::Handler::Host), or nil.
    def initialize(settings, app: nil, configuration: nil, host: nil, out: $stdout, err: $stderr)
      @settings = settings
      @app = app
      @hooks = configuration&.hooks || Hooks.new
      @plugins = configuration&.plugins || []
      @host = host
      @out = out
      @err = err
    end

    # Returns the exit status. Raises Error if there is nothing to serve, or if it can't listen.
    def run
      limit_arenas
      rehearsal = Restart.rehearsal?
      @again = Restart.again?
      @inherited = Listeners::Inherited.take(report: method(:report), borrowed: rehearsal)
      @heritage = Cluster::Heritage.take
      bear { pid_file.claim } unless rehearsal
      @directory = Restart::Directory.new(@settings.directory)
      @restart = noted # what was handed over is out of the environment
      prepare
      rehearsal ? rehearse : serve
    ensure
      release
    end

    private

    def noted
      Restart.noted(report: method(:report), directory: @directory, **(@host ? @host.commands : {}))
    end

    # Call it before there are threads. If an operator configures glibc itself, other than with the setting's variable,
    # that overrides a default.
    def limit_arenas
      count = @settings.malloc_arenas or return
      return if @settings.origin(:malloc_arenas) == :default && ENV["GLIBC_TUNABLES"].to_s.include?("arena_max")

      Cores.fetch(@settings.core).limit_arenas(count)
    end

    def prepare
      $stdout.sync = true # the output of an app appears at once, and only once after a fork
      export_environment
      Dir.chdir(@settings.directory) if @settings.directory
      check_path
      @inherited_control = @inherited.part("control") if @settings.control_url
      @listeners = Listeners.open(@settings.binds, inherited: @inherited,
                                                   activated: @settings.bind_to_activated_sockets).guard
      Server.secure(@listeners, @settings)
    end

    # Does everything that a start does, except serving.
    def rehearse
      server.preload
      exit Restart.rehearsed
    end

    def serve
      await_handlers
      bear { redirection.apply }
      @restart&.listeners = @listeners
      @restart&.limit = @settings.worker_boot_timeout
      @restart&.pid_file = pid_file
      @restart&.files = redirection.any?
      status = run_process(@settings.workers.zero? ? alone : cluster)
      return status unless status == :restart

      @restart.exec(otherwise: "the server ends") # it has stopped
      1
    end

    # Without workers this process loads the app before it has handlers for signals. During that time, signals that
    # don't stop a server must not end it.
    def await_handlers
      Signals.harmless(files: redirection.any?).each { |name| trap(name) { nil } }
      Signals::DUMP.each { |name| trap(name) { Thread.new { Backtraces.print } } }
    end

    def run_process(process)
      commands = Control::Commands.new(process, cluster: @settings.workers.positive?, files: redirection.any?,
                                                directory: @directory.name)
      bear { control(commands) } if @settings.control_url
      process.run do |workers|
        announce(workers || 0) unless @settings.quiet
        @plugins.each { |plugin| bear { start(plugin, commands) } }
        @heritage.dissolve if @settings.workers.zero?
      end
    end

    def start(plugin, commands)
      plugin.start(commands)
    rescue StandardError, ScriptError => error
      raise Error, "#{plugin.class.name}: #{Error.line(error)}"
    end

    # After a hot restart systemd watches this process already.
    def alone
      loaded = @again ? Notify::Heartbeat.new.during { server } : server
      Worker.new(loaded, report: method(:report), hooks: @hooks, redirection: redirection, restart: @restart,
                         release: method(:release))
    end

    # A rehearsal can't test everything. If something fails after a hot restart, the server continues without it, for
    # the sake of its clients.
    def bear
      yield
    rescue Error => error
      raise unless @again

      report("#{error.message}; continues without it")
    end

    # Answers probes from now on; with workers, also while the app is loaded.
    def control(commands)
      @control = Control.new(@settings, commands, inherited: @inherited_control).start
      @restart&.listeners = @listeners.with(@control.listeners, "control")
      pid_file.announce(@control)
      @membership&.keep(@control)
    end

    # A forked child closes only its copies.
    def release
      @control&.stop
    ensure
      [@listeners, @inherited, @inherited_control].compact.each(&:close)
      pid_file.release
    end

    def pid_file
      @pid_file ||= PidFile.new(@settings)
    end

    def cluster
      @membership = Cluster::Membership.new(settings: @settings, directory: @directory, listeners: @listeners,
                                            hooks: @hooks, report: method(:report), redirection: redirection)
      @membership.keep(*[pid_file, @host].compact)
      Cluster.new(method(:app), @membership, heritage: @heritage, restart: @restart, renewable: @app.nil?)
    end

    def server
      @server = Server.new(app, settings: @settings, listeners: @listeners, failure: @hooks.failure)
    end

    # Loads the app, unless it is loaded, in the process that calls this.
    def app
      @app ||= Rack::Loader.load(@settings.path).tap { check }
    end

    # An engine without a pool of threads runs the app on one thread, or has many times more requests than any database
    # pool. Workers that each load the app would all print the same.
    def check
      return unless @settings.preload

      lines = Rack::GemChecks.lines(@settings.traits)
      lines += short_pools if @settings.traits.pooled?
      lines.each { |line| report(line) }
    end

    def short_pools
      return DatabasePools.short(@settings.threads.max) unless auto?

      most = @settings.max_threads
      return DatabasePools.short(most, "--max-threads") unless @settings.origin(:max_threads) == :default

      limit = Engines::Auto.limit(DatabasePools.least, most)
      # By default, report a limit only if it leaves fewer threads than a process usually begins with.
      usual = @settings.origin(:threads) == :default ? [Engines::Auto::LEAST, most].min : most
      DatabasePools.limiting(limit, usual)
    end

    def auto? = @settings.threads.is_a?(Engines::Auto)

    def redirection
      @redirection ||= Redirection.new(@settings, others: @listeners.secure? ? [@listeners] : [])
    end

    # Sets the variables in which apps look for their environment. -e, or a configuration file, overrides all three
    # names that are set. A host has set them for the app, which has read them.
    def export_environment
      ENV["CUTTLE_ENGINE"] = @settings.engine # an app may size its pools by it, or isolate by fiber or thread
      return ENV["RACK_ENV"] ||= @settings.environment if @host

      ENV["RACK_ENV"] = @settings.environment
      return unless %i[flag file].include?(@settings.origin(:environment))

      %w[APP_ENV RAILS_ENV].each { |name| ENV[name] = @settings.environment if ENV.key?(name) }
    end

    # Checks that need nothing to be loaded.
    def check_path
      docroot = @settings.docroot
      raise Error, "no directory #{docroot}" if docroot && !File.directory?(docroot)

      Rack::Loader.check(@settings.path) unless @app
      return unless docroot && @settings.path && File.directory?(@settings.path) && docroot != @settings.path

      raise UsageError, "#{@settings.path} is a directory of files already: leave out --docroot"
    end

    # +workers+: how many there are.
    def announce(workers)
      warn_of_core
      report "#{PUMA} is not read; convert it: cuttle import #{PUMA} -o config/cuttle.rb" if puma?
      @out.puts "Cuttle #{VERSION} on #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}"
      facts(workers).compact.each { |name, value| @out.puts "  #{name.ljust(12)} #{value}" }
      @out.puts Listeners::DevCertificate.new.advice if @settings.dev_tls
      @out.puts "Ctrl-C stops"
      @out.flush
    rescue SystemCallError, IOError
      nil # a full disk, or nobody reads it: as with Cuttle.report
    end

    # Reports a slow core that the user did not select. (On JRuby it is the only one.)
    def warn_of_core
      return if RUBY_ENGINE == "jruby" || @settings.origin(:core) != :default || !(reason = Cores.missing("native"))

      report("serving with the core in Ruby, which is slow; core native: #{reason}")
    end

    # Users of Puma may expect Puma's file to be read.
    def puma?
      @settings.config.nil? && File.file?(PUMA)
    end

    def facts(workers)
      {
        "engine" => @settings.engine, **processes(workers), "threads" => threads,
        "parser" => @settings.parser, "environment" => @settings.environment, "settings" => @settings.config,
        "listening" => @listeners.uris.join(" "), "control" => @control&.uri, "pid" => Process.pid
      }
    end

    def processes(workers)
      @settings.traits.ractors? ? { "ractors" => @settings.ractors } : { "workers" => workers }
    end

    def threads
      return "auto (#{threads_of_auto})" if auto?

      range = @settings.threads
      range.max.zero? ? "one per connection" : "#{range.min}:#{range.max}"
    end

    # The supervisor has no app, and so doesn't know its database pool.
    def threads_of_auto
      range = @server ? @server.threads : Engines::Auto.new(@settings.max_threads)
      pool = ", by the database pool" if @server.nil? && @settings.origin(:max_threads) == :default
      "#{range.minmax.uniq.join(" to ")}#{pool}"
    end

    def report(line)
      Cuttle.report(line, @err)
    end
  end
end

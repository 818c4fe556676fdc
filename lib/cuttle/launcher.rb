# frozen_string_literal: true

module Cuttle
  # Starts a server from settings and runs it in the foreground until a signal stops it: loads the app, listens,
  # announces that, and serves from this process or from forked ones. The command line and the rackup handler start
  # here.
  class Launcher
    PUMA = "config/puma.rb"

    # +app+ is the app if the caller has one. Otherwise settings.path is loaded.
    def initialize(settings, app: nil, out: $stdout, err: $stderr)
      @settings = settings
      @app = app
      @out = out
      @err = err
    end

    # Returns the exit status. Raises Error if there is nothing to serve, or if it can't listen.
    def run
      $stdout.sync = true # the output of an app appears at once, and only once after a fork
      export_environment
      Dir.chdir(@settings.directory) if @settings.directory
      check_docroot
      @app ||= Rack::Loader.load(@settings.path)
      @listeners = Listeners.open(@settings.binds)
      (@settings.workers.zero? ? alone : cluster).run { announce unless @settings.quiet }
    ensure
      @listeners&.close
    end

    private

    def alone
      server = Server.new(@app, settings: @settings, listeners: @listeners)
      Worker.new(server, report: method(:report), release: @listeners.method(:close))
    end

    def cluster
      Cluster.new(@app, settings: @settings, listeners: @listeners, report: method(:report))
    end

    # Sets the variables in which apps look for their environment. -e, or a
    # configuration file, overrides all three names that are set.
    def export_environment
      ENV["RACK_ENV"] = @settings.environment
      ENV["CUTTLE_ENGINE"] = @settings.engine # an app may size its pools by it, or isolate by fiber or thread
      return unless %i[flag file].include?(@settings.origin(:environment))

      %w[APP_ENV RAILS_ENV].each { |name| ENV[name] = @settings.environment if ENV.key?(name) }
    end

    def check_docroot
      docroot = @settings.docroot or return
      raise Error, "no directory #{docroot}" unless File.directory?(docroot)
      return unless @settings.path && File.directory?(@settings.path) && docroot != @settings.path

      raise UsageError, "#{@settings.path} is a directory of files already: leave out --docroot"
    end

    def announce
      warn_of_core
      report "#{PUMA} is not read: cuttle import #{PUMA} -o config/cuttle.rb" if puma?
      @out.puts "Cuttle #{VERSION} on #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}"
      facts.compact.each { |name, value| @out.puts "  #{name.ljust(12)} #{value}" }
      @out.puts "Ctrl-C stops"
      @out.flush
    end

    # A slow core that nobody asked for. (On JRuby it is the only one.)
    def warn_of_core
      return if RUBY_ENGINE == "jruby" || @settings.origin(:core) != :default || !(reason = Cores.missing("native"))

      report("serving with the core in Ruby, which is slow; core native: #{reason}")
    end

    # Users who come from Puma may expect its file to count.
    def puma?
      @settings.config.nil? && File.file?(PUMA)
    end

    def facts
      {
        "engine" => @settings.engine, **processes, "threads" => threads,
        "parser" => @settings.parser, "environment" => @settings.environment, "settings" => @settings.config,
        "listening" => @listeners.uris.join(" "), "pid" => Process.pid
      }
    end

    def processes
      @settings.traits.ractors? ? { "ractors" => @settings.ractors } : { "workers" => @settings.workers }
    end

    def threads
      range = @settings.threads
      range.max.zero? ? "one per connection" : "#{range.min}:#{range.max}"
    end

    def report(line)
      @err.puts "cuttle: #{line}"
    end
  end
end

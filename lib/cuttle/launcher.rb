# frozen_string_literal: true

module Cuttle
  # From settings to a server that runs, in the foreground, until a signal ends it: loads the app, listens, says so,
  # and serves from this process or from forked ones. The command line and the rackup handler start here.
  class Launcher
    # +app+ where there is one already; otherwise settings.path is loaded.
    def initialize(settings, app: nil, out: $stdout, err: $stderr)
      @settings = settings
      @app = app
      @out = out
      @err = err
    end

    # Returns the exit status. Raises Error where there is nothing to serve, or no way to listen.
    def run
      $stdout.sync = true # what an app prints is there when it is needed, and once, however many processes fork
      export_environment
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

    # What apps ask for their environment. -e overrules all three names, where they are set.
    def export_environment
      ENV["RACK_ENV"] = @settings.environment
      ENV["CUTTLE_ENGINE"] = @settings.engine # an app may size its pools by it, and isolate by fiber or thread
      return unless @settings.origin(:environment) == :flag

      %w[APP_ENV RAILS_ENV].each { |name| ENV[name] = @settings.environment if ENV.key?(name) }
    end

    def check_docroot
      docroot = @settings.docroot or return
      raise Error, "no directory #{docroot}" unless File.directory?(docroot)
      return unless @settings.path && File.directory?(@settings.path) && docroot != @settings.path

      raise UsageError, "#{@settings.path} is a directory of files already: leave out --docroot"
    end

    def announce
      @out.puts "Cuttle #{VERSION} on #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}"
      facts.each { |name, value| @out.puts "  #{name.ljust(12)} #{value}" }
      @out.puts "Ctrl-C stops"
      @out.flush
    end

    def facts
      {
        "engine" => @settings.engine, "workers" => @settings.workers, "threads" => threads,
        "parser" => @settings.parser, "environment" => @settings.environment,
        "listening" => @listeners.uris.join(" "), "pid" => Process.pid
      }
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

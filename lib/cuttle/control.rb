# frozen_string_literal: true

require "securerandom"
require "socket"

module Cuttle
  # The control listener (--control-url): answers probes, reports figures and passes commands on, over HTTP. It is a
  # small app (App) on a server of our own, in threads of the supervisor or of the only process (-w 0). It listens from
  # the beginning, and answers from #start to #stop, even while the server drains. A hot restart leaves the sockets
  # open, so a client that connects during the restart waits for the next program.
  #
  # Only the owner of a Unix socket's file can connect to it. TCP needs a token.
  class Control
    autoload :App, "cuttle/control/app"
    autoload :ByPid, "cuttle/control/by_pid"
    autoload :Client, "cuttle/control/client"
    autoload :Commands, "cuttle/control/commands"

    # The settings of its own server: two threads, with limits so that a client can neither block it for long nor make
    # it large. Times in seconds, sizes in octets.
    LIMITS = {
      threads: 2, max_connections: 256, header_timeout: 2, body_timeout: 2, idle_timeout: 2, write_timeout: 5,
      max_body: 1024, drain_grace: "none", shutdown_timeout: 1
    }.freeze

    # The permissions that the file of a Unix socket lacks.
    UMASK = 0o177

    # The URL as `cuttle ctl` takes it, tcp://127.0.0.1:9293 or unix:///path.
    attr_reader :uri

    # The token that commands need, or nil.
    attr_reader :token

    # What it listens on.
    attr_reader :listeners

    # Listens, on sockets of +inherited+ (Listeners::Inherited, from before a hot restart) if they match the URL.
    # +process+ is the controlled process. Several threads call its methods, which return at once:
    #
    #   stats, top     a Hash for JSON
    #   measures       a Hash for Telemetry::Metrics.of
    #   live?          whether it works at all
    #   ready?         whether it serves and does not stop
    #   command(name)  passes one of App::COMMANDS on. Raises UsageError, in one line, if the process can't do that.
    #                  An Array that it returns (of thread-backtraces) is the answer.
    #
    # Raises Error if it can't listen.
    def initialize(settings, process, inherited: nil)
      @token = token_of(settings)
      @listeners = listen(settings.control_url, inherited)
      @uri = @listeners.uris.first.sub("http:", "tcp:")
      @owner = Process.pid
      limits = Settings.build(variables: {}, core: settings.core, **LIMITS)
      @server = Server.new(App.new(process, @token), settings: limits, listeners: @listeners, collects: false)
      preload
    end

    # Begins to answer, in threads of its own. Returns self.
    def start
      @server.start
      self
    end

    # Answers the requests under way, for at most a second, stops listening, and removes the file of a Unix socket. In a
    # forked child it only closes the child's copies.
    def stop
      @server.stop if Process.pid == @owner
    ensure
      @listeners.close
    end

    # For a forked child: closes its copies of the listening sockets. Those of connections are closed already.
    def close
      @listeners.close_copies
    end

    private

    # A process must not be forked while another thread loads code: the child would wait for it without end.
    def preload
      Stats.versions
      Telemetry::Prometheus.preload
      @server.preload
    end

    def token_of(settings)
      return if settings.control_token == Settings::NO_TOKEN

      settings.control_token || (SecureRandom.hex(16) if settings.control_url.start_with?("tcp:"))
    end

    def listen(url, inherited)
      before = File.umask(UMASK)
      Listeners.open([url == "auto" ? somewhere : url], inherited: inherited)
    ensure
      File.umask(before)
    end

    # A name that no other user can guess, and so occupy first. Removes the socket that this process had before it
    # executed itself.
    def somewhere
      require "tmpdir"
      beginning = "#{Dir.tmpdir}/cuttle-#{Process.pid}-"
      Dir["#{beginning}*.sock"].each { |path| File.unlink(path) if File.owned?(path) && unheard?(path) }
      "unix://#{beginning}#{SecureRandom.hex(4)}.sock"
    end

    def unheard?(path)
      UNIXSocket.new(path).close
    rescue SystemCallError
      true
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Cluster
    # Loads the app and forks workers from this process, the mould. No thread of the app's requests ever runs here.
    #
    # A mould forks a worker through a process that ends at once. The supervisor adopts orphans, so the worker becomes
    # its child and outlives the mould. On a system without such adoption, the supervisor is the mould.
    #
    # A worker may become the next mould (Refork), and so may a worker of that one. So a worker returns from #obey
    # instead of running inside of it: otherwise each generation would begin deeper in the stack than the one before.
    #
    #   live:  mould --fork--> (a process that ends) --fork--> worker --asked to--> mould --> …
    class Forge
      # The exit status of a process that could not become a mould and has printed why.
      SAID = 1

      # +app+ is called for the Rack app. +membership+ holds what each process of the cluster needs: see Cluster.
      def initialize(app, membership)
        @app = app
        @cluster = membership
      end

      # Loads the app, unless each worker is to load it. Raises what the app raises.
      def load
        @cluster.settings.preload ? server.preload : Engines.fetch(@cluster.settings.engine)
        Worker.preload # once, instead of in each worker
        @cluster.hooks.call(:before_fork)
        warm_up
      end

      # Runs a process that was forked to be a mould, and the workers forked from it. They work in +directory+, or where
      # the supervisor does. Obeys the supervisor until the supervisor closes the pipe. Does not return.
      def live(commands, directory = nil)
        as_mould { load_in(directory) }
        while (ticket = obey_commands(commands))
          commands.close
          commands = become(*ticket)
          as_mould { succeed }
        end
        exit 0
      end

      # Forks a worker that is a child of this process, for a supervisor that is the mould.
      def cast_here(index, place)
        @cluster.hooks.attempt(:before_worker_fork, index)
        attempt(place) { tell_of(place, @cluster.pass_on { fork { become(index, place) } }) }
        @cluster.hooks.attempt(:after_worker_fork, index)
      end

      private

      # The mould

      # Makes this process a mould, which leaves all signals to its supervisor. A worker that has no handlers yet has no
      # requests to finish.
      def as_mould(&block)
        mould = Process.pid
        @cluster.enter
        stops.each { |name| trap(name) { exit!(0) unless Process.pid == mould } }
        Signals::DUMP.each { |name| trap(name) { Thread.new { Backtraces.print } } }
        Process.setproctitle("cuttle: mould of #{@cluster.supervisor}#{@cluster.tag}")
        or_say_why { @cluster.with_supervisor(&block) }
        @cluster.wire.tell(:loaded, pid: mould)
      end

      # The signals that stop a server. A HUP that the supervisor ignores (nohup) stays ignored in workers. This is
      # determined once, because a worker that becomes the mould ignores all signals by then.
      def stops
        @stops ||= Signals::STOP - (trap("HUP", "IGNORE") == "IGNORE" ? %w[HUP] : [])
      end

      def or_say_why
        yield
      rescue StandardError, ScriptError => error
        @cluster.report.call(Error.line(error))
        Cuttle.report(error.full_message(highlight: false).chomp) if @cluster.settings.debug
        exit SAID
      end

      # Without --prune-bundler the bundle stays the supervisor's.
      def load_in(directory)
        Dir.chdir(directory) if directory
        if @cluster.settings.prune_bundler
          ENV.update(@cluster.directory.follow(ENV.to_h)) if directory
          Bundle.renew
        end
        load
      end

      # This worker has answered its requests, and is to be the mould.
      def succeed
        @server = nil # its source and its engine have ended
        Stats.leave
        @cluster.hooks.call(:before_refork)
        Solitude.check
        server.preload
        warm_up
      end

      def warm_up
        Warmup.call(@cluster.settings.core) if @cluster.settings.warmup
      end

      def obey_commands(commands)
        or_say_why { obey(commands) }
      end

      # Obeys until the supervisor closes the pipe, and returns nil. In a worker that it has forked, it returns the
      # worker's index and place.
      def obey(commands)
        while (line = commands.gets)
          word, *numbers = line.split.map { |part| Integer(part, exception: false) || part }
          next @cluster.redirection.reopen unless word == "fork"
          return numbers if cast(*numbers)
        end
      end

      # Forks a worker that will be a child of the supervisor. Returns whether this process is the worker.
      def cast(index, place)
        @cluster.hooks.attempt(:before_worker_fork, index)
        return true if attempt(place) { born?(place) }

        @cluster.hooks.attempt(:after_worker_fork, index)
        false
      end

      # Whether this process is the worker.
      def born?(place)
        if (between = @cluster.pass_on { fork })
          Process.wait(between)
          return false
        end

        pid = attempt(place) { @cluster.pass_on { fork } || (return true) }
        tell_of(place, pid) if pid
        exit!(0)
      end

      def tell_of(place, pid)
        @cluster.wire.tell(:forked, place: place, pid: pid)
      end

      def attempt(place)
        yield
      rescue SystemCallError => error
        @cluster.report.call("can't fork a worker: #{error.message}")
        @cluster.wire.tell(:unforked, place: place)
        nil
      end

      # The worker

      # Runs in the worker. It keeps only the listeners, the wire and the lifeline of the supervisor. Exits, or returns
      # the pipe of commands if it is to become the mould.
      def become(index, place)
        worker = Process.pid
        status = serve(index, place)
        status == :mould ? @cluster.commands : exit(status)
      rescue StandardError, ScriptError => error
        raise unless Process.pid == worker # a child that the app forked: Ruby reports its exceptions

        @cluster.report.call("worker #{index}: #{Error.line(error)}")
        raise if @cluster.settings.debug

        exit 1
      end

      def serve(index, place)
        @cluster.enter
        @cluster.scoreboard.take(place)
        trap("HUP") { nil } if @cluster.redirection.any? # the worker opens its files once it is ready
        Process.setproctitle("cuttle: worker #{index} of #{@cluster.supervisor}#{@cluster.tag}")
        @cluster.with_supervisor { boot(index) }
        Worker.new(server, **@cluster.for_worker(index, place)).run
      end

      def boot(index)
        @cluster.hooks.call(:before_worker_boot, index)
        server
      end

      def server
        @server ||= Server.new(@app.call, settings: @cluster.settings, listeners: @cluster.listeners,
                                          scoreboard: @cluster.scoreboard, failure: @cluster.hooks.failure)
      end
    end
  end
end

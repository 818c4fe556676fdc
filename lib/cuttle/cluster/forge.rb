# frozen_string_literal: true

module Cuttle
  class Cluster
    # Loads the app and forks workers from this process, the mould. No thread of the app's requests ever runs here.
    #
    # Between a mould and a worker stands a process that ends at once: so the worker is a child of the supervisor, which
    # adopts orphans, and outlives its mould. Where the system adopts nobody, the supervisor is the mould.
    class Forge
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
        Warmup.call if @cluster.settings.warmup
      end

      # Obeys the supervisor until it closes the pipe.
      def obey(commands)
        while (line = commands.gets)
          word, *numbers = line.split
          word == "fork" ? cast(*numbers.map(&:to_i)) : @cluster.redirection.reopen
        end
      end

      # Forks a worker that will be a child of the supervisor.
      def cast(index, place)
        around_fork(index) do
          between = fork do
            attempt(place) { fork_worker(index, place) }
            exit!(0)
          end
          Process.wait(between)
        end
      end

      # Forks a worker that is a child of this process.
      def cast_here(index, place)
        around_fork(index) { attempt(place) { fork_worker(index, place) } }
      end

      private

      def around_fork(index)
        @cluster.hooks.attempt(:before_worker_fork, index)
        yield
        @cluster.hooks.attempt(:after_worker_fork, index)
      end

      def fork_worker(index, place)
        pid = fork { become(index, place) }
        @cluster.wire.tell(:forked, place: place, pid: pid)
      end

      def attempt(place)
        yield
      rescue SystemCallError => error
        @cluster.report.call("can't fork a worker: #{error.message}")
        @cluster.wire.tell(:unforked, place: place)
      end

      # Runs in the worker. It keeps only the listeners, the wire and the lifeline of the supervisor.
      def become(index, place)
        worker = Process.pid
        @cluster.enter
        @cluster.scoreboard.take(place)
        trap("HUP") { nil } if @cluster.redirection.any? # the worker opens its files once it is ready
        Process.setproctitle("cuttle: worker #{index} of #{@cluster.supervisor}#{@cluster.tag}")
        @cluster.with_supervisor { boot(index) }
        exit Worker.new(server, **@cluster.for_worker(index, place)).run
      rescue StandardError, ScriptError => error
        raise unless Process.pid == worker # a child that the app forked: Ruby reports its exceptions

        @cluster.report.call("worker #{index}: #{Error.line(error)}")
        raise if @cluster.settings.debug

        exit 1
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

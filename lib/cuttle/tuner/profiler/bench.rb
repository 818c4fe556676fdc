# frozen_string_literal: true

require "json"
require "securerandom"

module Cuttle
  module Tuner
    class Profiler
      # The costs of one closed-loop run against a running server. Times are seconds per response.
      #
      #   cpu         CPU time of all the server's processes
      #   app_cpu     CPU time of the app in the threads of the same requests; nil if the ledger does not have it
      #   app         time that requests were in the app; nil if the ledger does not have it
      #   rate, responses
      #   cores       number of cores that the server used
      #   pss         octets of all processes, after the run
      #   rss         octets of the largest process, shared or not
      #   databases   database connections that the server's processes hold, or nil
      Reading = Struct.new(:cpu, :app_cpu, :app, :rate, :responses, :cores, :pss, :rss, :databases,
                           keyword_init: true) do
        # The average number of requests in the app at once (Little's law); nil if unknown.
        def busy
          app && app * rate
        end

        # CPU seconds of a response outside the app.
        def overhead
          app_cpu && [cpu - app_cpu, 0.0].max
        end
      end

      # A setting of a server did not take effect, or can't be seen. That says nothing about the app.
      class Unproved < Failure; end

      # Starts the lab's servers with a Setting and measures them.
      class Bench
        TOKEN = SecureRandom.hex(16) # for the servers' control listeners
        MOST_WRONG = Lab::Runner::Trial::MOST_WRONG

        attr_reader :cores

        # interruption: a Lab::Runner::Interruption.
        def initialize(testbed, options, cores, interruption)
          @testbed = testbed
          @options = options
          @cores = cores
          @interruption = interruption
          @starts = 0
          @boots = {}
        end

        # Seconds from the start to the first answer: the median over all starts with one worker.
        def boot
          times = @boots.select { |setting, _| setting.processes == 1 }.values.flatten.sort
          times[times.length / 2]&.round(3)
        end

        # Why that engine can't be measured here, or nil if it can.
        def unavailable(setting)
          peer = @testbed.peers.find("cuttle")
          peer.supports?(Lab::Plan::Configurations.setup(configuration(setting, []).to_h))
        end

        # Yields the Site of a running server. on: the cores that it may use. Raises Unproved and Lab::Failure.
        def serve(setting, flags: [], on: cores.server)
          control = Lab::Servers::Ports.free
          flags += ["--control-url", "tcp://127.0.0.1:#{control}", "--control-token", TOKEN]
          configuration = configuration(setting, flags)
          load = Lab::Results::LoadSpec.new("id" => "l1", "name" => "profile", "loop" => "closed", "connections" => 1)
          @testbed.serve(configuration, [load], cores: on) do |server, routes|
            (@boots[setting] ||= []) << server.boot
            check(server)
            site = Site.new(server, routes.to(load), control, method(:generate),
                            options: @testbed.load_options(configuration, load, cores), machine: [cores, speed],
                            databases: Databases.new(server, @testbed.services["postgres"]))
            begin
              yield site
            ensure
              site.client.close
            end
          end
        end

        private

        def configuration(setting, flags)
          Lab::Results::Configuration.new(
            "id" => "p#{@starts += 1}", "name" => setting.name, "server" => "cuttle", "model" => setting.engine,
            "workers" => setting.workers, "threads" => setting.threads || 1, "keep_alive" => @options.keep_alive.first,
            "ruby_path" => @options.rubies.first, "flags" => flags,
            "slots" => (setting.processes * setting.slots unless setting.traits.fibers?)
          )
        end

        def check(server)
          wrong = server.proof.find { |proof| proof.proved == false } or return
          raise Unproved, "#{wrong.setting} should be #{wrong.wanted}, but is #{wrong.found || "not visible"}"
        end

        def speed
          @speed ||= Lab::Machine::CoreSpeed.new(cores, give_up: @interruption.method(:asked?))
        end

        def generate(url, **options)
          @interruption.watch(Load::Generator.new(Load::Plan.build(url, **options)))
        end
      end

      # A running server, with the means to load it and to read its figures.
      class Site
        attr_reader :server, :requests, :client

        # control: the port of its control listener. generate: called with a URL and options of Load.
        def initialize(server, route, control, generate, options:, machine:, databases:)
          @server = server
          @route = route
          @control = control
          @generate = generate
          @options = options
          @machine = machine
          @databases = databases
          @requests = requests_of(options[:mix], route.url)
          @client = Client.new(server.port, timeout: options[:timeout])
        end

        # Loads the server over that many connections and returns the Load::Result.
        def load(connections:, duration:)
          threads = [@options[:threads], connections].min
          @generate.call(@route.url, **@options, connections: connections, threads: threads, duration: duration)
        end

        # The Reading of such a load. Raises Failure if answers are wrong.
        def measure(connections:, duration:)
          before = ledger
          result, figures = Lab::Machine::Meter.new(server.tree, *@machine, @route).measure do
            load(connections: connections, duration: duration)
          end
          after = ledger
          raise Failure, "interrupted" if result.interrupted?

          check(result)
          reading(result, figures, phases(before, after))
        end

        # The number of voluntary context switches of the app's only thread, read when it waits for the next request;
        # nil if it can't be read.
        def switches
          @task ||= server.tree.tasks(stats.fetch("worker_status").first["pid"], /\Acuttle \d+\z/).first or return
          server.tree.switches_at_rest(@task)
        end

        private

        def requests_of(mix, url)
          case mix
          when nil then [Load::Request.new(path: Load::Target.new(url).path)]
          when Array then mix
          else Load::Mix.read(mix)
          end
        end

        # The server's figures of its requests since its start: phase => [requests, seconds].
        def ledger
          stats.fetch("ledger").transform_values { |phase| [phase["count"], phase["count"] * phase["mean"].to_f] }
        end

        # The control listener's stats.
        def stats
          probe = Lab::Servers::Server::Probe
          text = probe.connect(@control) { |socket| probe.exchange(socket, "/stats?token=#{Bench::TOKEN}").body }
          JSON.parse(text)
        end

        # The mean seconds of each phase between two readings of the ledger.
        def phases(before, after)
          spent = after.to_h do |name, (count, sum)|
            earlier_count, earlier_sum = before.fetch(name, [0, 0.0])
            [name.to_sym, [count - earlier_count, sum - earlier_sum]]
          end
          spent.select { |_, (count, _)| count.positive? }.transform_values { |count, sum| sum / count }
        end

        def check(result)
          raise Failure, "the server died" unless server.running?

          wrong = result.errors.slice(*Lab::Runner::Trial::WRONG, :timeout).select { |_, count| count.positive? }
          return if result.responses.positive? && wrong.values.sum <= Bench::MOST_WRONG * result.arrivals

          told = wrong.map { |name, count| "#{name} #{count}" }.join(", ")
          raise Failure, "wrong answers: #{told} of #{result.arrivals}"
        end

        def reading(result, figures, phases)
          Reading.new(cpu: figures.server["cpu_us"] / 1e6, app: phases[:app], rate: result.rate,
                      app_cpu: (phases[:cpu] + phases[:gc].to_f if phases[:cpu]), responses: result.responses,
                      cores: result.responses * figures.server["cpu_us"] / 1e6 / result.elapsed,
                      pss: figures.server["pss_total"], rss: server.tree.largest, databases: @databases.count)
        end
      end
    end
  end
end

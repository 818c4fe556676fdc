# frozen_string_literal: true

require "json"

# Peers, servers and a testbed that need no process, for tests of what carries a lab out.
module LabFakes
  # supports: a callable that says why a setup can't be; threads: whether it has any.
  class Peer
    attr_reader :name, :models, :variants, :unavailable

    def initialize(name, models: [nil], variants: [], unavailable: nil, &supports)
      @name = name
      @models = models
      @variants = variants
      @unavailable = unavailable
      @supports = supports || ->(_setup) {}
    end

    def model?(model)
      [*models, *variants].include?(model) || model.nil?
    end

    def copies(model, number) = "#{variants.include?(model) ? "--copies" : "-w"} #{number}"

    def supports?(setup)
      @supports.call(setup)
    end

    def slots(setup)
      setup.model == "fibers" ? nil : [setup.workers, 1].max * setup.threads
    end

    def version
      "1.0"
    end
  end

  ONE_THREAD = %w[single fibers].freeze

  # As Peers is.
  class Peers
    def initialize
      @all = [cuttle, unicorn, Peer.new("falcon", unavailable: "falcon is not installed")]
    end

    def names
      @all.map(&:name)
    end

    def find(name)
      @all.find { |peer| peer.name == name } or raise Cuttle::UsageError, "unknown server #{name}"
    end

    private

    def cuttle
      Peer.new("cuttle", models: %w[single hybrid fibers], variants: %w[copier]) do |setup|
        "#{setup.model} has one thread" if ONE_THREAD.include?(setup.model) && setup.threads > 1
      end
    end

    def unicorn
      Peer.new("unicorn") do |setup|
        next "unicorn always forks" if setup.workers.zero?

        "unicorn has no threads" if setup.threads > 1
      end
    end
  end

  # A process tree that costs nothing.
  class Tree
    def cpu_seconds
      0.0
    end

    def cpu_by_process
      { 1 => 0.0 }
    end

    def voluntary_switches
      0
    end

    def pss
      { 1 => 1_000_000 }
    end

    def rss
      2000
    end
  end

  Proof = Struct.new(:setting, :wanted, :found, :proved, :how)

  # A server of the load generator's own; dies says whether it is gone after a run.
  class Server
    attr_reader :port, :boot, :tree, :output
    attr_accessor :stopped

    def initialize(port, dies: false, proved: true)
      @port = port
      @boot = 0.1
      @tree = Tree.new
      @dies = dies
      @proved = proved
      @output = "starting\nundefined method `call' for nil\n"
    end

    def running?
      !@dies
    end

    def proof
      [Proof.new("workers", 2, @proved ? 2 : 1, @proved, "counted")]
    end

    def stop
      @stopped = true
    end
  end

  # Routes from loads without a slow network.
  Routes = Struct.new(:port) do
    def to(_load)
      Cuttle::Lab::Network::Routes::Route.new("http://127.0.0.1:#{port}/")
    end
  end

  # What a Runner asks of a testbed. made: called for each start; returns a Server or raises.
  class Testbed
    attr_reader :started

    def initialize(&made)
      @made = made
      @started = []
    end

    def serve(configuration, _loads)
      server = @made.call(configuration)
      @started << server
      yield server, Routes.new(server.port)
    ensure
      server&.stop
    end

    def services_cpu
      0.0
    end

    def database_connections
      nil
    end

    def load_options(configuration, load, _cores)
      { connections: load.connections, threads: 1, keep_alive: configuration.keep_alive, timeout: 5 }
    end
  end

  # What a Runner asks of a store.
  class Store
    attr_reader :lines

    def initialize(limit: nil)
      @lines = []
      @limit = limit
    end

    def append(hash)
      raise Cuttle::Lab::Failure, "can't write results.jsonl: No space left on device" if @limit == @lines.length

      @lines << JSON.parse(JSON.generate(hash))
      self
    end

    def of(type)
      @lines.select { |line| line["type"] == type }
    end
  end
end

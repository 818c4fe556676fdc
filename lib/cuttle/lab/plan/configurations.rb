# frozen_string_literal: true

require "open3"
require "rbconfig"

module Cuttle
  module Lab
    class Plan
      # The configurations that Options specify: every server and model with every possible number of workers and
      # threads, and the control. A model without threads or forking gets the nearest possible numbers. A server that is
      # not available here is listed with the reason.
      class Configurations
        BACKLOG = 1024
        # The configuration that is measured twice, if it is in the lab: the one that most apps run with.
        CONTROL = ["cuttle", "hybrid"].freeze
        OURS = "cuttle"

        # Configuration id => why it can't be measured.
        attr_reader :missing

        # +peers+ has find(name) and names. Raises UsageError.
        def initialize(options, peers)
          @options = options
          @peers = peers
          @missing = {}
          @versions = {}
        end

        # An Array of Results::Configuration, with ids.
        def to_a
          @to_a ||= made
        end

        # The +count+ configurations to measure if there is no time for all, in the same order, and the missing ones.
        # The control and its original always stay. Those with few workers come before others.
        def at_most(count)
          present = to_a.reject { |each| @missing.key?(each.id) }
          twice = present.flat_map { |each| [each.id, each.control_of] if each.control_of }
          order = present.sort_by.with_index { |each, index| [twice.include?(each.id) ? 0 : 1, each.workers, index] }
          to_a - (order - order.first(count))
        end

        # The Servers::Setup for a configuration's Hash. The caller adds the settings of a single run.
        def self.setup(hash, port: 0, app: "config.ru", env: {}, **settings)
          Servers::Setup.new(model: hash["model"], workers: hash["workers"], threads: hash["threads"],
                             keep_alive: hash["keep_alive"], like: hash["like"], flags: hash["flags"], backlog: BACKLOG,
                             ruby: hash["ruby_path"], port: port, app: app, env: env, **settings)
        end

        # The version of the Ruby at that path, "3.4.1"; nil is this one. Raises UsageError.
        def self.ruby_version(path)
          return RUBY_VERSION unless path

          output, status = Open3.capture2e(path, "-e", "print RUBY_VERSION", unsetenv_others: false)
          raise UsageError, "--ruby #{path}: not a working Ruby" unless status.success? && output.match?(/\A\d/)

          output
        rescue SystemCallError => error
          raise UsageError, "--ruby #{path}: #{Load.reason(error)}"
        end

        private

        def made
          wanted = axes.uniq { |configuration, _| configuration }
          raise UsageError, "nothing to measure: name --engines or --servers" if wanted.empty?

          wanted.map.with_index(1) { |(hash, reason), number| numbered(hash, "c#{number}", reason) }
                .then { |configurations| [*configurations, control(configurations)].compact }
        end

        def axes
          servers.product(@options.workers, @options.keep_alive, @options.rubies)
                 .flat_map { |(peer, model), *numbers| candidates(peer, model, *numbers) }
        end

        # Pairs of [peer, model].
        def servers
          ours = @peers.find(OURS)
          engines = @options.engines || ours.models
          engines = ours.models + ours.variants if engines == %w[all]
          unknown = engines.reject { |engine| ours.model?(engine) }
          if unknown.any?
            raise UsageError,
                  "unknown engine #{unknown.first}: #{(ours.models + ours.variants).join(", ")}"
          end

          engines.map { |engine| [ours, engine] } + others
        end

        # "thin" means every model of Thin except its variants, "thin:threaded" one model.
        def others
          names = @options.servers == %w[all] ? @peers.names - [OURS] : @options.servers
          names.flat_map do |name|
            server, model = name.split(":", 2)
            peer = @peers.find(server)
            raise UsageError, "#{server} has no model #{model}" unless peer.model?(model)

            (model ? [model] : models(peer)).map { |each| [peer, each] }
          end
        end

        def models(peer)
          peer.models.empty? ? [nil] : peer.models
        end

        # Pairs of [Hash, reason why it is missing or nil].
        def candidates(peer, model, workers, keep_alive, ruby)
          threads_for(workers).map do |threads|
            base = { "server" => peer.name, "model" => model, "keep_alive" => keep_alive, "ruby_path" => ruby }
            described(peer, base, workers, threads)
          end
        end

        def threads_for(workers)
          return @options.threads unless @options.slots

          [@options.slots.fdiv([workers, 1].max).ceil]
        end

        # The Hash with the nearest numbers that the server supports.
        def described(peer, base, workers, threads)
          tries = numbers(workers, threads).map { |each| base.merge(each) }
          reasons = tries.map { |hash| peer.supports?(self.class.setup(hash)) }
          index = reasons.index(nil) || -1 # the last one needs the least
          [complete(peer, tries[index]), peer.unavailable || reasons[index]]
        end

        # With equal slots, a model with one slot per process gets more processes.
        def numbers(workers, threads)
          alone = @options.slots || workers
          [[workers, threads], [alone, 1], [[workers, 1].max, threads], [[alone, 1].max, 1]]
            .map { |processes, each| { "workers" => processes, "threads" => each } }
        end

        def complete(peer, hash)
          hash = hash.merge("slots" => peer.slots(self.class.setup(hash)), "ruby" => ruby_version(hash["ruby_path"]),
                            "version" => peer.unavailable ? nil : peer.version, "control_of" => nil)
          { "id" => nil, "name" => name(peer, hash) }.merge(hash)
        end

        def name(peer, hash)
          workers, threads = hash.values_at("workers", "threads")
          [title(peer, hash["model"]), (peer.copies(hash["model"], workers) if workers.positive?),
           ("-t #{threads}" if threads.to_i > 1),
           ("keep-alive #{hash["keep_alive"] ? "on" : "off"}" if @options.keep_alive.length > 1),
           ("Ruby #{hash["ruby"]}" if @options.rubies.length > 1)].compact.join(" ")
        end

        def title(peer, model)
          return model if peer.name == OURS

          models(peer) == [model] ? peer.name : "#{peer.name} #{model}"
        end

        def numbered(hash, id, reason)
          @missing[id] = reason if reason
          Results::Configuration.new(hash.merge("id" => id))
        end

        def control(configurations)
          present = configurations.reject { |configuration| @missing.key?(configuration.id) }
          twice = present.find { |each| [each.server, each.model] == CONTROL } || present.first or return
          Results::Configuration.new(twice.to_h.merge("id" => "c#{configurations.length + 1}",
                                                      "name" => "#{twice.name} (again)", "control_of" => twice.id))
        end

        def ruby_version(path)
          @versions[path] ||= self.class.ruby_version(path)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    # Runs a study as a lab: every condition once in each round, on fresh servers, in random order.
    class Experiment
      NOTE = "study" # its key in the header of the results
      TIMEOUT = 60 # seconds; some published response times are 20 s

      # Reads a directory with a study's results: [Study, Scale, Lab::Results]. Raises Failure.
      def self.read(directory, from: Studies.all)
        results = Lab::Results.read(directory)
        note = results.header[NOTE] or raise Failure, "#{directory}: a lab, but not of a study"
        study = from.find { |each| each.name == note["name"] }
        raise Failure, "#{directory}: of a study that is not here, #{note["name"]}" unless study

        [study, Scale.new(note["scale"]), results]
      end

      # command: the command line of this run. rounds: nil for the study's own.
      def initialize(study, scale:, directory:, seed:, command:, rounds: nil, peers: Lab::Servers::Peers,
                     testers: Lab::Testers)
        @study = study
        @scale = scale
        @directory = directory
        @seed = seed
        @command = command
        @rounds = rounds || study.rounds
        @peers = peers
        @testers = testers
      end

      # Returns the directory of the results. Raises UsageError and Failure; runs that were measured before stay in the
      # file.
      def run(out:)
        reasons = @study.conditions.filter_map { |condition| absent(condition) }.uniq
        reasons.each { |reason| out.puts "left out: #{reason}" }
        Lab.run(options, out: out, plan: plan)
      end

      # Resumes an unfinished study.
      def self.resume(directory, out:)
        study, = read(directory)
        Lab.run(Lab::Options.new(app: study.app, resume: directory, cpus: cpus(study), duration: 1,
                                 timeout: TIMEOUT), out: out)
      end

      def options
        @options ||= Lab::Options.new(app: @study.app, profile: @study.profile, directory: @directory,
                                      seed: @seed, rounds: @rounds, duration: 1, timeout: TIMEOUT,
                                      warmup: @study.warmup, cpus: self.class.cpus(@study), command: @command,
                                      notes: { NOTE => { "name" => @study.name, "scale" => @scale.factor } })
      end

      # The Lab::Plan: configurations and loads of the conditions, and which belong together.
      def plan
        specs = loads.map { |id, load| Lab::Results::LoadSpec.new(load.merge("id" => id)) }
        pairs = numbered.to_h do |id, conditions|
          [id, conditions.map { |condition| loads.key(condition.load(@scale)) }]
        end
        Lab::Plan.new(configurations: configurations, loads: specs, pairs: pairs, missing: missing, seed: options.seed,
                      rounds: @rounds, duration: 1, warmup: @study.warmup, cut: [])
      end

      # Cores for the lab. The load gets the core after the servers'; if there is none, it shares their last one.
      def self.cpus(study)
        return {} unless study.cores

        allowed = Lab::Machine::Cores.allowed
        servers = study.cores == :all ? allowed : allowed.first(study.cores)
        { server: servers, load: [(allowed - servers).first || allowed.last] }
      end

      private

      # Why the load tester of a condition is missing, or nil.
      def absent(condition)
        condition.tester && @testers.find(condition.tester).unavailable
      end

      def conditions
        @conditions ||= @study.conditions.reject { |condition| absent(condition) }
      end

      # Configuration id => its Conditions.
      def numbered
        @numbered ||= conditions.group_by(&:configuration).values
                                .map.with_index(1).to_h { |conditions, number| ["c#{number}", conditions] }
      end

      # Load id => Hash.
      def loads
        @loads ||= conditions.map { |condition| condition.load(@scale) }.uniq
                             .map.with_index(1).to_h { |load, number| ["l#{number}", load] }
      end

      def configurations
        numbered.map { |id, conditions| configuration(id, conditions.first.configuration) }
      end

      def configuration(id, hash)
        peer = @peers.find(hash["server"])
        series = hash["series"]
        hash = hash.merge("ruby_path" => Rubies.find(series)) if series
        Lab::Results::Configuration.new(
          hash.merge("id" => id, "ruby" => series || RUBY_VERSION, "slots" => peer.slots(setup(hash)),
                     "version" => (peer.version unless peer.unavailable))
        )
      end

      # Configuration id => why it can't be measured here.
      def missing
        configurations.to_h { |configuration| [configuration.id, reason_against(configuration.to_h)] }.compact
      end

      def reason_against(hash)
        peer = @peers.find(hash["server"])
        return "Ruby #{hash["series"]} is not here: name it in RUBIES" if hash["series"] && !hash["ruby_path"]

        peer.unavailable || peer.supports?(setup(hash))
      end

      def setup(hash)
        Lab::Plan::Configurations.setup(hash, port: 0, app: "config.ru", env: {})
      end
    end
  end
end

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
        pairs = conditions.map { |condition| [configuration(condition), condition.load(@scale)] }
        Lab::Plan::Declared.new(pairs, peers: @peers).plan(seed: options.seed, rounds: @rounds, duration: 1,
                                                           warmup: @study.warmup)
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

      # The lab's Hash, with the path of its Ruby if it isn't this one.
      def configuration(condition)
        hash = condition.configuration
        hash["series"] ? hash.merge("ruby_path" => Rubies.find(hash["series"])) : hash
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    # Runs a study as a lab: every condition and the A/A control once in each round, on new servers, in random order.
    class Experiment
      NOTE = "study" # its key in the header of the results
      MOST_ROUNDS = 30
      TIMEOUT = 60 # seconds; some published response times are 20 s

      # Reads a directory with a study's results: [Study, Scale, Lab::Results]. from: studies that are read already, or
      # nil. Raises Failure.
      def self.read(directory, from: nil, root: ROOT)
        results = Lab::Results.read(directory)
        note = results.header[NOTE] or raise Failure, "#{directory}: a lab, but not of a study"
        study = from ? from.find { |each| each.name == note["name"] } : Studies.find(note["name"], root)
        raise Failure, "#{directory}: of a study that is not here, #{note["name"]}" unless study

        [note["claims"] ? study.claimed(note["claims"]) : study, Scale.new(note["scale"]), results]
      end

      # command: the command line of this run. rounds: nil for the study's own number. precision: a share, or nil. With
      # a precision, rounds is the maximum (MOST_ROUNDS if nil), and rounds beyond the study's own number have only what
      # is not known with that precision (see .wanted). budget: seconds, or nil; no round begins that would end too
      # late, and the study can be resumed.
      def initialize(study, scale:, directory:, seed:, command:, rounds: nil, precision: nil, budget: nil,
                     peers: Lab::Servers::Peers, testers: Lab::Testers)
        @study = study
        @scale = study.scale(scale)
        @directory = directory
        @seed = seed
        @command = command
        @rounds = rounds || (precision ? MOST_ROUNDS : study.rounds)
        @precision = precision
        @budget = budget
        @peers = peers
        @testers = testers
      end

      # Returns the directory of the results. Raises UsageError and Failure; finished runs stay in the file.
      def run(out:)
        reasons = @study.conditions.filter_map { |condition| absent(condition) }.uniq
        reasons.each { |reason| out.puts "left out: #{reason}" }
        Lab.run(options, out: out, plan: plan, wanted: self.class.wanted(@study), least: 1)
      end

      # Resumes an unfinished study. budget: seconds, or nil.
      def self.resume(directory, out:, budget: nil)
        study, = read(directory)
        Lab.run(Lab::Options.new(app: study.app, resume: directory, cpus: cpus(study), duration: 1, budget: budget,
                                 timeout: TIMEOUT), out: out, wanted: wanted(study), least: 1)
      end

      # What the lab asks before each round (Lab::Runner). A study's own rounds have everything. If the results ask for
      # a precision, further rounds have the conditions of each statement whose ratio is not known so well.
      #
      # Rule: only the rounds before decide, so a resumed study continues with the same conditions.
      def self.wanted(study)
        lambda do |directory, number|
          next if number < study.rounds

          reduced, scale, results = read(directory)
          precision = results.header[NOTE]["precision"]
          Findings.new(reduced, scale, results, before: number).imprecise(precision) if precision
        end
      end

      # The server cores of a study on this machine.
      def self.server_cores(study)
        Lab::Machine::Cores.new(**cpus(study)).server.length
      end

      def options
        @options ||= Lab::Options.new(app: @study.app, profile: @study.profile, directory: @directory,
                                      seed: @seed, rounds: @rounds, duration: 1, timeout: TIMEOUT, budget: @budget,
                                      warmup: @study.warmup, cpus: self.class.cpus(@study), command: @command,
                                      notes: { NOTE => note })
      end

      # The Lab::Plan: the conditions' configurations and loads, and which of them belong together.
      def plan
        pairs = conditions.map { |condition| [configuration(condition), @study.load(condition, @scale)] }
        Lab::Plan::Declared.new(pairs, peers: @peers).plan(seed: options.seed, rounds: @rounds, duration: 1,
                                                           warmup: @study.warmup)
      end

      # The cores for the lab. The load gets the core after the servers'; without one, it shares the servers' last core.
      def self.cpus(study)
        return {} unless study.cores

        allowed = Lab::Machine::Cores.allowed
        servers = study.cores == :all ? allowed : allowed.first(study.cores)
        { server: servers, load: [(allowed - servers).first || allowed.last] }
      end

      private

      def note
        { "name" => @study.name, "scale" => @scale.factor, "precision" => @precision,
          "claims" => @study.deciding }.compact
      end

      # Why a condition can't be measured (its load tester, or a library to be loaded, is missing), or nil.
      def absent(condition)
        library = condition.environment&.fetch("LD_PRELOAD", nil)
        return "#{library} is not here" if library && !File.exist?(library)

        condition.tester && @testers.find(condition.tester).unavailable
      end

      def conditions
        @conditions ||= (@study.conditions | @study.control).reject { |condition| absent(condition) }
      end

      # The lab's Hash, with the path of its Ruby if it is another one.
      def configuration(condition)
        hash = condition.configuration
        hash["series"] ? hash.merge("ruby_path" => Rubies.find(hash["series"])) : hash
      end
    end
  end
end

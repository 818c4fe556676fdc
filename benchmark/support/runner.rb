# frozen_string_literal: true

module Bench
  # Carries a plan out: round after round over all subjects, each round in an order of its own, so that what the machine
  # does meanwhile falls on all alike. A subject that can't be run is named and left out, and the rest goes on.
  class Runner
    # Rounds that a subject may fail before it is left out.
    FAILURES = 2

    def initialize(plan, options, journal)
      @plan = plan
      @options = options
      @journal = journal
      @failures = Hash.new(0)
    end

    def call
      begin_journal
      FileUtils.mkdir_p(LOGS)
      subjects = prepared
      @options.cores.pin_self or raise "taskset is needed (util-linux)"
      1.upto(@options.rounds) { |round| subjects -= run(round, subjects) }
      figures
    end

    private

    def begin_journal
      @journal.add("benchmark", name: @plan.name, title: @plan.title, columns: @plan.columns, rounds: @options.rounds,
                                seconds: @options.seconds, seed: @options.seed, machine: Machine.facts)
    end

    # The subjects that can be run here.
    def prepared
      @plan.subjects.select { |subject| @options.wants?(subject.name) && prepare(subject) }
    end

    def prepare(subject)
      reason = subject.recipe.unavailable
      return skip(subject, reason) if reason

      subject.recipe.prepare
      @journal.add("subject", name: subject.name, versus: subject.versus, version: subject.recipe.version,
                              command: subject.recipe.command(Server.setup(subject.recipe, @options.cores, LOGS)).join(" "))
      true
    rescue Server::Failed => e
      skip(subject, e.message)
    end

    def skip(subject, reason)
      @journal.add("skip", name: subject.name, reason: reason)
      warn "#{subject.name}: left out: #{reason}"
    end

    # Returns the subjects that failed once too often.
    def run(round, subjects)
      order = in_turn(subjects, Random.new(@options.seed + round))
      order.reject { |subject| attempt(round, subject) }.select { |subject| (@failures[subject.name] += 1) >= FAILURES }
    end

    # Those that are compared with one another run one after the other.
    def in_turn(subjects, random)
      groups = subjects.group_by { |subject| subject.versus || subject }.values
      groups.shuffle(random: random).flat_map { |group| group.shuffle(random: random) }
    end

    # Whether it could be measured.
    def attempt(round, subject)
      busy = Quiet.wait(@options.patience)
      warn format("busy machine: %.1f processes want a core", busy) if busy > 0.5
      figures = subject.trial.call(subject.recipe, @options.seconds, @options.cores)
      @journal.add("run", name: subject.name, round: round, busy: busy, figures: figures)
      progress(round, subject, figures)
      true
    rescue Server::Failed, Wrk::Failed, Http::Failed => e
      skip(subject, "round #{round}: #{e.message}")
      false
    end

    def progress(round, subject, figures)
      cpu = figures[:cpu] ? format("%8.2f us CPU", figures[:cpu]) : ""
      puts format("%d/%d  %-28s %9.0f/s  %s  p99 %8.2f ms%s", round, @options.rounds, subject.name, figures[:rate],
                  cpu, figures[:p99] / 1e3, figures[:errors].empty? ? "" : "  ERRORS #{figures[:errors]}")
    end

    def figures
      results = Results.new(@journal)
      @plan.figures.each do |figure|
        @journal.add("figure", text: figure.text, sense: figure.sense, bound: figure.bound, value: figure.value.call(results))
      end
    end
  end
end

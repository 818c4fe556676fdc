# frozen_string_literal: true

module Cuttle
  module Studies
    # What was found of a claim's statement. found: an Estimate or nil. reason: why it could not be tested, or nil.
    Tested = Struct.new(:statement, :found, :verdict, :reason)

    # The verdict on a claim.
    #
    #   by          the servers on which it was tested
    #   evidence    an Array of Tested
    #   reason      why the claim could not be tested, or nil
    #   forecast    the prediction of the tuner's model for statements that need more cores,
    #               [[Statement, ratio or nil], …], or nil
    #   model       whether Cuttle imitates a server that the claim is about. Then the verdict shows what the
    #               concurrency model does; only that server itself can confirm or refute the claim
    #   conditions  { figure => Condition }, or nil
    Verdict = Struct.new(:claim, :by, :verdict, :evidence, :reason, :forecast, :model, :conditions) do
      def word
        of(verdict)
      end

      # The word for a verdict on one of its statements.
      def of(verdict)
        (model ? Verdicts::OF_A_MODEL : Verdicts::WORDS).fetch(verdict)
      end
    end

    # Tests the claims of a study by its Findings.
    #
    # Rule: a claim is confirmed or refuted only if its interval shows it, and only by runs whose load left the servers
    # their cores.
    class Verdicts
      WORDS = { confirmed: "confirmed", partly_confirmed: "confirmed in part", border: "at the border",
                undecided: "not decided", partly_refuted: "refuted in part", refuted: "refuted",
                untestable: "not testable here" }.freeze
      # What is said of a model, where the claim is about a server.
      OF_A_MODEL = WORDS.merge(confirmed: "holds", partly_confirmed: "holds in part", partly_refuted: "fails in part",
                               refuted: "fails").freeze
      # The share of a core that the load may take from the servers: with more, their rates would be too low.
      LITTLE = 0.03

      def initialize(findings)
        @findings = findings
        @evidence = Evidence.new(findings)
        @forecasts = Forecasts.new(findings) # one for all claims, which share simulations
      end

      # An Array of Verdict. Each claim is tested on Cuttle first, then on the published servers if they were measured.
      def all
        @findings.study.claims.flat_map do |claim|
          reason = claim.reason(cores)
          reason ? [untestable(claim, nil, reason, forecast(claim))] : tried(claim)
        end
      end

      private

      # The number of server cores that the study had.
      def cores
        @findings.results.environment["server_cores"].length
      end

      # The model's predictions for the statements that need more cores, or nil.
      def forecast(claim)
        short = claim.short?(cores) ? claim.statements : claim.statements.select { |each| each.short?(cores) }
        @forecasts.of(claim, short) if short.any?
      end

      def untestable(claim, by, reason, forecast = nil)
        Verdict.new(claim, by, :untestable, [], reason, forecast)
      end

      # A Verdict for each side that the claim's conditions have. If a published claim has two sides, or if the server
      # that it is about is not available, the verdict on Cuttle is one on the model. A study that is reduced to
      # some claims has no verdict on others.
      def tried(claim)
        sides = claim.sides.map { |side| @findings.study.measured(claim, side) }
        found = sides.select { |conditions| conditions.values.all? }.uniq(&:values)
                     .map { |conditions| test(claim, conditions) }
        found << untestable(claim, nil, claim.gone) if claim.gone
        found.first.model = true if found.length > 1 && claim.published?
        found
      end

      # conditions: by the claim's figures.
      def test(claim, conditions)
        by = servers(conditions.values)
        reason = conditions.values.filter_map { |each| @findings.missing(each) }.first
        return untestable(claim, by, reason) if reason

        evidence = claim.statements.map { |statement| tested(statement, conditions, claim.confidence) }
        Verdict.new(claim, by, claim.verdict(evidence.map(&:verdict)), evidence, nil, forecast(claim), nil, conditions)
      end

      # "Cuttle", "puma and unicorn".
      def servers(conditions)
        conditions.map { |each| each.server == Condition::OURS ? "Cuttle" : each.server }.uniq.sort.join(" and ")
      end

      def tested(statement, conditions, confidence)
        reason = statement.reason(cores) || crowded(statement, conditions)
        return Tested.new(statement, nil, :untestable, reason) if reason

        found = @evidence.ratio(statement, conditions, confidence)
        Tested.new(statement, found, statement.verdict(found))
      end

      # Why rates or times don't tell, where the load took the servers' time; or nil. Where load testers are compared,
      # what each takes is a part of the answer.
      def crowded(statement, conditions)
        figures = statement.figures.reject { |figure| Metric.fetch(figure.metric).kind == :plain }
        measured = conditions.values_at(*figures)
        most = measured.filter_map { |condition| @findings.load_share(condition) }.max
        return if most.nil? || most <= LITTLE || measured.any?(&:tester)

        format("the load took %.2g%% of a core that it shared with the servers; it needs one of its own", most * 100)
      end
    end
  end
end

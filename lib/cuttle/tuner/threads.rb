# frozen_string_literal: true

module Cuttle
  module Tuner
    # Chooses between -t auto and a number of threads, from measured Outcomes with the same engine and workers. A
    # prediction can't decide this, because the model treats -t auto as a number of threads. (It does see a limit of
    # auto that is too low: Search raises it.)
    class Threads
      # verified: Verified. ranking: Ranking.
      def initialize(verified, ranking:, limits:)
        @verified = verified
        @ranking = ranking
        @limits = limits
      end

      # The first of these Outcomes, which are in order. If it has a number of threads, and auto is not measurably
      # worse, auto takes its place: then users have no number to choose.
      def best(first, *others)
        auto = others.find { |each| each.setting.auto? && each.setting.beside?(first.setting) }
        auto && !first.setting.auto? && auto.excess(@limits).empty? && !loses?(auto, first) ? auto : first
      end

      # An Advice::Threads of the Setting and its best rival among these Outcomes, which are in order; nil unless both
      # exist.
      def beside(setting, outcomes)
        own = outcomes.find { |each| each.setting == setting } or return
        rival = outcomes.find { |each| each.setting.beside?(setting) && each.setting.auto? != setting.auto? } or return
        auto, number = setting.auto? ? [own, rival] : [rival, own]

        Advice::Threads.new(auto: auto, number: number, loses: loses?(auto, number),
                            detectable: compare(auto, number)[:capacity]&.detectable)
      end

      private

      # Whether +auto+ is worse than +number+ by more than noise, or may be as far as the measurement shows.
      def loses?(auto, number)
        compared = compare(auto, number)
        @ranking.behind(auto, number).any? do |measure|
          found = compared[measure]
          found.nil? || found.better? || found.undecided?
        end
      end

      # The capacities are not compared if the closed loop had too few connections for one of them.
      def compare(auto, number)
        compared = @verified.compare(number.setting, auto.setting)
        [auto, number].all?(&:capacity_measured?) ? compared : compared.except(:capacity)
      end
    end
  end
end

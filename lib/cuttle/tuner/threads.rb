# frozen_string_literal: true

module Cuttle
  module Tuner
    # A number of threads, or auto? Decides between Outcomes that were measured, with the same engine and workers. A
    # prediction says nothing here, because the model takes auto for a number of threads.
    class Threads
      # verified: Verified. ranking: Ranking.
      def initialize(verified, ranking:, limits:)
        @verified = verified
        @ranking = ranking
        @limits = limits
      end

      # The first of these Outcomes, which are in order; auto in place of its number, if nothing measurable is lost by
      # that: then there is nothing to choose.
      def best(first, *others)
        auto = others.find { |each| each.setting.auto? && each.setting.beside?(first.setting) }
        auto && !first.setting.auto? && auto.excess(@limits).empty? && !loses?(auto, first) ? auto : first
      end

      # An Advice::Threads of the Setting and its best rival among these Outcomes, which are in order; nil unless there
      # are both.
      def beside(setting, outcomes)
        own = outcomes.find { |each| each.setting == setting } or return
        rival = outcomes.find { |each| each.setting.beside?(setting) && each.setting.auto? != setting.auto? } or return
        auto, number = setting.auto? ? [own, rival] : [rival, own]

        Advice::Threads.new(auto: auto, number: number, loses: loses?(auto, number),
                            detectable: compare(auto, number)[:capacity]&.detectable)
      end

      private

      # Whether +auto+ is behind +number+ by more than noise, as far as the measurement can tell.
      def loses?(auto, number)
        compared = compare(auto, number)
        @ranking.behind(auto, number).any? do |measure|
          found = compared[measure]
          found.nil? || found.better? || found.undecided?
        end
      end

      def compare(auto, number)
        @verified.compare(number.setting, auto.setting)
      end
    end
  end
end

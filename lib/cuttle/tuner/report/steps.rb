# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # Sentences on the step from one setting to another ("What if").
      module Steps
        SAME = 0.005 # a smaller change counts as none

        module_function

        # "3 -> 5 threads: +2% capacity, p99 +40 ms, 8 more database connections". limits: of the Advice.
        def sentence(each, limits)
          from, to = each.from, each.to
          "#{step(from.setting, to.setting)}: #{difference(from, to)}#{supposed(from, to)}#{broken(to, limits)}"
        end

        # The limits that the step would break.
        def broken(outcome, limits)
          excess = LimitWords.excess(outcome, limits)
          "; breaks a limit: #{excess}" unless excess.empty?
        end

        # How a difference between auto and a number of threads was predicted, if it was not measured.
        def supposed(from, to)
          found = Words.taken_for(from) || Words.taken_for(to) unless from.setting.auto? == to.setting.auto?
          " (auto is predicted #{found})" if found
        end

        def step(from, to)
          return "#{workers(from)} -> #{workers(to)} #{units(from.engine)}" if from.workers != to.workers
          return "#{Words.threads(from)} -> #{Words.threads(to)}" if from.max_threads || to.max_threads

          "#{from.threads} -> #{to.threads} threads"
        end

        def workers(setting)
          setting.workers.zero? && !setting.traits.ractors? ? "no" : setting.processes
        end

        # What the engine has several of.
        def units(engine)
          Engines.traits(engine).ractors? ? "ractors" : "workers"
        end

        def difference(from, to)
          parts = ["#{change(from.capacity, to.capacity)} capacity", tail(from, to), memory(from, to),
                   connections(from, to)]
          parts.compact.join(", ")
        end

        def change(from, to)
          ratio = to.value / from.value
          (ratio - 1).abs < SAME ? "the same" : Numbers.change(ratio)
        end

        def tail(from, to)
          before, after = [from, to].map { |outcome| outcome.p99&.value }
          return unless before && after
          return "no longer keeps up" if before.finite? && after.infinite?
          return before.infinite? && after.finite? ? "keeps up" : nil if [before, after].any?(&:infinite?)

          moved = after - before
          "p99 #{moved.negative? ? "-" : "+"}#{Values.time(moved.abs)}" if moved.abs > SAME * before
        end

        def memory(from, to)
          return unless from.memory && to.memory

          more = to.memory - from.memory
          "#{more.negative? ? "-" : "+"}#{Numbers.size(more.abs)}" unless more.abs < 1e5
        end

        def connections(from, to)
          return unless from.connections && to.connections

          more = to.connections - from.connections
          return if more.zero?

          most = "up to " if [from, to].any? { |outcome| outcome.setting.grows? }
          word = more.positive? ? "more" : "fewer"
          "#{most}#{more.abs} #{word} database connection#{"s" unless more.abs == 1}"
        end
      end
    end
  end
end

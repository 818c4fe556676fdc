# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # The costs of serving outside the app, computed from the Runs: each engine's overhead, the cost of the GVL, how
      # processes scale, memory, database connections. It measures nothing. A cost is nil if its runs are missing.
      #
      # Rule: a difference between two runs counts only if chance does not explain it. Requests differ, so the means of
      # two runs of some hundred requests always differ a little.
      class Costs
        CHANCE = 2 # standard errors
        IDLE, MORE = 0.9, 1.05 # of a core: below, the GVL is no limit; above, the process computes without the GVL

        # runs: the finished Runs. samples: Samples of the app. warn: called with a line.
        def initialize(runs, samples, warn:)
          @runs = runs
          @samples = samples
          @warn = warn
        end

        # The CPU time of a busy process / that in the samples, at most 1.0. Between two requests that wait, a
        # processor's caches get cold and its clock slows down. A request then takes more CPU time than in a process
        # that is always busy. The capacity of a server depends on the latter.
        def warmth
          many = busy or return 1.0
          less = @samples.mean(:cpu) - many.app_cpu
          less > CHANCE * error(many) ? (many.app_cpu / @samples.mean(:cpu)).round(4) : 1.0
        end

        # Engine => seconds of CPU time of a response outside the app, in a busy process.
        def overheads
          found = @runs.alone.to_h { |engine, reading| [engine, overhead(engine, reading)&.round(9)] }.compact
          found unless found.empty?
        end

        # Seconds of CPU time that each further busy thread adds. The part outside the app is exact, because the ledger
        # has the app's part of the same requests. The app's part is compared with an equal number of samples: in an app
        # whose data grows, a short run computes less.
        def contention
          return unless solo&.overhead && busy&.busy && busy.busy >= 2

          more = busy.app_cpu - @samples.mean(:cpu)
          more = 0.0 if more < CHANCE * error(busy)
          [(busy.overhead - solo.overhead + more) / (busy.busy - 1), 0.0].max.round(9)
        end

        # [[processes, speed of each], …], from the CPU time of a response.
        def scaling
          one = wide(1) or return
          speeds = [2, @runs.wide_cores.length].uniq.select { |count| count.between?(2, @runs.wide_cores.length) }
                                               .filter_map { |count| [count, speed(one, wide(count))] if wide(count) }
          [[1, 1.0], *speeds]
        end

        # The CPU time of a response of two processes on one core / that of one. A process that gets its core back finds
        # cold caches there.
        def sharing
          one, two = [1, 2].map { |workers| @runs.reading(@runs.many(workers), @runs.narrow_cores) }
          (1 / speed(one, two)).round(4) if one && two
        end

        # Memory, from three totals: one worker with one thread, one worker with several, two workers with several. A
        # total includes the garbage that its run left. A worker with one thread takes more than a further thread. So if
        # the totals give it less than a thread, the thread's memory is used for it: otherwise additional workers would
        # appear free. A process that does not fork shares no pages, so it takes the whole memory of a single worker,
        # shared pages included.
        def memory
          one, many, two = totals(&:pss)
          return unless one && many

          thread = [(many - one) / (@runs.threads - 1), 0].max
          worker = two && [two - many - (@runs.threads - 1) * thread, thread].max
          { "base" => worker && [one - worker, 0].max, "worker" => worker, "thread" => thread,
            "alone" => solo.rss }.compact
        end

        # Database connections, from the same three runs. If further threads took connections, but not one each, the
        # process has a pool of a fixed size, or needed no more of them at once.
        def connections
          one, many, two = totals(&:databases)
          return unless one && many
          return pool(many - one, two ? two - many : many) if (many - one).between?(1, @runs.threads - 2)

          thread = [(many - one).fdiv(@runs.threads - 1), 0.0].max
          process = two ? two - many - @runs.threads * thread : one - thread
          { "process" => [process, 0.0].max.round(2), "thread" => thread.round(2) }
        end

        # The share of the CPU time without the GVL. A process that uses more than one core has at least this share, and
        # exactly this share if the GVL limits it.
        def unlocked
          used = wide(1)&.cores
          if @runs.wide_cores.one? then @warn.call("computing without the GVL can't be seen on one core")
          elsif used && used < IDLE
            @warn.call(format("computing without the GVL was not looked for: %d threads used only %.2f of a core",
                              @runs.threads, used))
          end
          used.to_f > MORE ? (1 - 1 / used).round(3) : 0.0
        end

        private

        def solo
          @runs.reading(@runs.solo)
        end

        # The run of one process with several threads, if its ledger has the CPU time.
        def busy
          many = @runs.reading(@runs.many)
          many if many&.overhead
        end

        # The CPU time outside the app in a busy process / that in a process with a single slot, at most 1.0.
        def warmth_beside
          return 1.0 unless busy && solo&.overhead&.positive?

          [busy.overhead / solo.overhead, 1.0].min
        end

        def wide(workers)
          @runs.reading(@runs.many(workers), @runs.wide_cores)
        end

        def totals(&figure)
          [solo, most_loaded, wide(2)].map { |reading| reading && figure.call(reading) }
        end

        # The run of one process with several threads.
        def most_loaded
          wide(1) || @runs.reading(@runs.many)
        end

        # further: connections of all threads but one. process: those of a process with all threads; a second one may
        # have been idle.
        def pool(further, process)
          most = [process, further + 1].max
          { "process" => most - further - 1, "thread" => 1.0, "most" => most, "full" => full?(most) }
        end

        # Whether the pool limited that run: the GVL did not, and no more requests waited at once than it has
        # connections. Otherwise most requests waited for something else.
        def full?(most)
          many = most_loaded
          many.cores < IDLE && (many.rate * @samples.mean(:wait)).round <= most
        end

        def overhead(engine, reading)
          reading.overhead ? reading.overhead * warmth_beside : without_ledger(engine, reading)
        end

        # For an engine whose ledger has no CPU time: the CPU time of a response, less the app's.
        def without_ledger(engine, reading)
          more = reading.cpu - (@samples.mean(:cpu) * warmth)
          return more if more > CHANCE * error(reading)

          least = solo&.overhead or return
          @warn.call("#{engine}: the app's own variation hides its overhead; using that of " \
                     "#{@runs.solo.engine} instead")
          least * warmth_beside
        end

        # The standard error of the difference in CPU time between two readings, or between a reading and the samples.
        def error(*readings)
          variances = readings.map { |reading| @samples.deviation(:cpu)**2 / reading.responses }
          variances << @samples.error(:cpu)**2 if readings.one?
          Math.sqrt(variances.sum)
        end

        def speed(one, many)
          many.cpu - one.cpu > CHANCE * error(one, many) ? (one.cpu / many.cpu).round(4) : 1.0
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # What serving costs beside the app, from the Runs: each engine's overhead, the GVL's price, how processes scale,
      # memory, database connections. It measures nothing. What its runs are missing for is nil.
      #
      # Rule: the difference of two runs counts only if chance does not explain it. Requests differ, so the mean of some
      # hundred of them is never quite the same.
      class Costs
        CHANCE = 2 # standard errors
        IDLE, MORE = 0.9, 1.05 # of a core: below, the GVL limits no process; above, it computes without the GVL

        # runs: Runs that were made. samples: Samples of the app. warn: called with a line.
        def initialize(runs, samples, warn:)
          @runs = runs
          @samples = samples
          @warn = warn
        end

        # What a busy process needs of the CPU time that the samples have, 1.0 or less. Between two requests that wait,
        # a processor forgets: its caches get cold, its clock slows down. A request then takes more CPU time than one in
        # a process that always has something to do, and the latter decides what a server can do.
        def warmth
          many = busy or return 1.0
          less = @samples.mean(:cpu) - many.app_cpu
          less > CHANCE * error(many) ? (many.app_cpu / @samples.mean(:cpu)).round(4) : 1.0
        end

        # Engine => seconds of CPU time that a response costs beside the app, in a busy process.
        def overheads
          found = @runs.alone.to_h { |engine, reading| [engine, overhead(engine, reading)&.round(9)] }.compact
          found unless found.empty?
        end

        # Seconds of CPU time that each further busy thread adds. The part beside the app is known exactly, because the
        # ledger has the app's part of the same requests. The app's is compared with the samples, which are as many: an
        # app whose data grows computes less in a short run.
        def contention
          return unless solo&.overhead && busy&.busy && busy.busy >= 2

          more = busy.app_cpu - @samples.mean(:cpu)
          more = 0.0 if more < CHANCE * error(busy)
          [(busy.overhead - solo.overhead + more) / (busy.busy - 1), 0.0].max.round(9)
        end

        # [[processes, speed of each, …]], from the CPU time that a response takes.
        def scaling
          one = wide(1) or return
          speeds = [2, @runs.wide_cores.length].uniq.select { |count| count.between?(2, @runs.wide_cores.length) }
                                               .filter_map { |count| [count, speed(one, wide(count))] if wide(count) }
          [[1, 1.0], *speeds]
        end

        # From three totals: one worker with one thread, one with several, two with several. What garbage one of these
        # runs has left is in its total too. A worker with one thread costs more than a further thread, so what the
        # totals make less is taken for that: otherwise any number of workers would cost nothing. A process that does
        # not fork shares no page, so it takes what the worker alone has of them, shared ones included.
        def memory
          one, many, two = totals(&:pss)
          return unless one && many

          thread = [(many - one) / (@runs.threads - 1), 0].max
          worker = two && [two - many - (@runs.threads - 1) * thread, thread].max
          { "base" => worker && [one - worker, 0].max, "worker" => worker, "thread" => thread,
            "alone" => solo.rss }.compact
        end

        # Database connections, from the same three.
        def connections
          one, many, two = totals(&:databases)
          return unless one && many

          thread = [(many - one).fdiv(@runs.threads - 1), 0.0].max
          process = two ? two - many - @runs.threads * thread : one - thread
          { "process" => [process, 0.0].max.round(2), "thread" => thread.round(2) }
        end

        # Share of the CPU time that runs without the GVL. A process that uses more than one core has at least this
        # share, and exactly this share if the GVL limits it.
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

        # The run of one process with several threads, if its ledger knows the CPU time.
        def busy
          many = @runs.reading(@runs.many)
          many if many&.overhead
        end

        # What a busy process needs of the CPU time beside the app that one with a single slot has, 1.0 or less.
        def warmth_beside
          return 1.0 unless busy && solo&.overhead&.positive?

          [busy.overhead / solo.overhead, 1.0].min
        end

        def wide(workers)
          @runs.reading(@runs.many(workers), @runs.wide_cores)
        end

        def totals(&figure)
          [solo, wide(1) || @runs.reading(@runs.many), wide(2)].map { |reading| reading && figure.call(reading) }
        end

        def overhead(engine, reading)
          reading.overhead ? reading.overhead * warmth_beside : without_ledger(engine, reading)
        end

        # An engine whose ledger has no CPU time: what a response costs more than the app alone.
        def without_ledger(engine, reading)
          more = reading.cpu - (@samples.mean(:cpu) * warmth)
          return more if more > CHANCE * error(reading)

          least = solo&.overhead or return
          @warn.call("#{engine}: the app's own variation hides its overhead; using that of " \
                     "#{@runs.solo.engine} instead")
          least * warmth_beside
        end

        # Standard error of the difference of two readings' CPU times, or of one and the samples'.
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

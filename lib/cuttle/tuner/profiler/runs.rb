# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # The runs under load: their settings, cores and durations. The most important ones come first. A run that fails
      # is tried again after all others, if there is time. If it fails again, Runs warns and leaves it out.
      class Runs
        THREADS = (5..16) # in the runs with several threads
        SATURATING = 1.5 # times as many threads as keep a processor busy
        FAST = 50e-6 # seconds in the app; the ledger measures the CPU time of one in 64 faster requests
        SERVING = 20e-6 # the least seconds of CPU time of a response
        PRECISE = 0.01 # error of a response's CPU time
        ENOUGH = 300 # responses of a run that is compared only with its own ledger
        SECONDS = { compared: (1.0..20.0), paired: (0.5..3.0) }.freeze
        WARM_UP = 0.25 # of a run
        WARM_SECONDS = (0.5..5.0)
        ENGINE = "hybrid"

        # One start under one load. kind: a key of SECONDS. cores: the cores that the server may use.
        Step = Struct.new(:setting, :kind, :cores)

        # samples: Samples of the app. engines: names, nil for all that can be measured here. say, warn: called with a
        # line; warnings become part of the profile.
        def initialize(bench, samples, engines:, schedule:, say:, warn:)
          @bench = bench
          @samples = samples
          @schedule = schedule
          @say = say
          @warn = warn
          @engines = engines || Engines.names.reject { |name| Engines.traits(name).ractors? }
          @readings = {}
          @unfit = {}
          @late = []
        end

        # Engines that can't serve the app => why. ENGINE is never among them: the requests were measured with it.
        attr_reader :unfit

        # Makes all runs. Returns itself.
        def run
          steps = [Step.new(solo, :paired, cores), Step.new(many, :compared, cores), *wide, *narrow, *others]
          steps = steps.uniq { |step| [step.setting, step.cores] }.reject { |step| unavailable?(step) }
          errors = attempt(steps)
          say_what_is_late
          errors.update(attempt(errors.keys))
          errors.reject! { |step, _| reading(step.setting, step.cores) }
          errors.each { |step, error| left_out(step, error.message, unfit: !error.is_a?(Unproved)) }
          self
        end

        # The Reading of a setting on those cores, or nil.
        def reading(setting, cores = self.cores)
          @readings[[setting, cores]]
        end

        # The Readings of one slot in one process, by engine.
        def alone
          @readings.select { |(setting, cores), _| one_slot?(setting) && cores == self.cores }
                   .to_h { |(setting, _), reading| [setting.engine, reading] }
        end

        def solo
          Setting.new(engine: ENGINE, workers: 1, threads: 1)
        end

        # Workers with several threads each.
        def many(workers = 1)
          Setting.new(engine: ENGINE, workers: workers, threads: threads)
        end

        # The number of threads with which computing, not waiting, limits a worker.
        def threads
          waiting = @samples.mean(:wait) / [@samples.mean(:cpu), SERVING].max
          (SATURATING * (1 + waiting)).clamp(THREADS.min, THREADS.max).ceil
        end

        def cores
          @bench.cores.server
        end

        # The servers' cores. If there is only one, the load's core as well; server and load then share both.
        def wide_cores
          cores.one? ? cores | @bench.cores.load : cores
        end

        # A single core, which two workers have to share.
        def narrow_cores
          cores.first(1)
        end

        private

        # One worker, and two.
        def narrow
          [1, 2].map { |workers| Step.new(many(workers), :compared, narrow_cores) }
        end

        # One worker, two, and one for each core.
        def wide
          [1, 2, wide_cores.length].uniq.map { |workers| Step.new(many(workers), :compared, wide_cores) }
        end

        def others
          (@engines - [ENGINE]).map do |engine|
            Step.new(Setting.new(engine: engine, workers: 1, threads: 1), :paired, cores)
          end
        end

        def one_slot?(setting)
          setting.processes == 1 && [nil, 1].include?(setting.threads)
        end

        def unavailable?(step)
          reason = @bench.unavailable(step.setting) or return false
          left_out(step, reason)
          true
        end

        # Measures these steps. Returns those that failed, with their errors.
        def attempt(steps)
          steps.each_with_index.with_object({}) do |(step, index), errors|
            next if @schedule.stopped?

            seconds = seconds(step.kind, steps.length - index) or next @late << step
            @readings[[step.setting, step.cores]] = measure(step, seconds)
          rescue Failure, Lab::Failure, Load::Failure => error
            errors[step] = error unless @schedule.stopped?
          end
        end

        def left_out(step, reason, unfit: true)
          engine = step.setting.engine
          @unfit[engine] = reason if unfit && engine != ENGINE
          @warn.call("#{step.setting.name} was not measured: #{reason}")
        end

        def say_what_is_late
          names = @late.map { |step| step.setting.name }.uniq
          @warn.call("no time was left for #{names.join(", ")}: increase --budget") if names.any?
        end

        # Seconds of a run, or nil if there is no time for it.
        def seconds(kind, steps)
          range = SECONDS.fetch(kind)
          time = @schedule.slice(steps, @bench.boot.to_f + WARM_SECONDS.min, range.min)
          time && wanted(kind).clamp(range.min, [range.max, time].min)
        end

        # Seconds until a mean is precise enough, at one core's rate.
        def wanted(kind)
          cpu = @samples.mean(:cpu) + SERVING
          responses = kind == :paired ? ENOUGH : (@samples.deviation(:cpu) / (PRECISE * cpu))**2
          responses * cpu
        end

        def measure(step, seconds)
          flags = mixed? ? ["--server-timing"] : []
          @bench.serve(step.setting, flags: flags, on: step.cores) do |site|
            connections = connections_for(step.setting)
            warm_up(site, connections, seconds)
            site.measure(connections: connections, duration: seconds).tap { |reading| tell(step.setting, reading) }
          end
        end

        # A connection for each slot. A single slot has several, because waiting costs nothing there.
        def connections_for(setting)
          return 1 unless setting.traits.evented?

          one_slot?(setting) ? threads : setting.processes * setting.threads
        end

        def warm_up(site, connections, seconds)
          time = (seconds * WARM_UP).clamp(WARM_SECONDS.min, WARM_SECONDS.max)
          Lab::Runner::WarmUp.new(time) { |piece| site.load(connections: connections, duration: piece) }.call
        end

        # Whether the ledger samples some of the requests, because they are fast, and measures all of the others. With
        # --server-timing it measures all requests.
        def mixed?
          times = @samples.times
          times.any? { |time| time < FAST } && times.any? { |time| time >= FAST }
        end

        def tell(setting, reading)
          beside = format(", %.3f outside the app", reading.overhead * 1000) if reading.overhead
          @say.call(format("%s: %.0f/s at %.3f ms of CPU time%s; %.1f MB", setting.name, reading.rate,
                           reading.cpu * 1000, beside, reading.pss / 1e6))
        end
      end
    end
  end
end

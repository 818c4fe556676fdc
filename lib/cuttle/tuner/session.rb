# frozen_string_literal: true

module Cuttle
  module Tuner
    # Carries out a tune from start to end: profile, search, verification, advice. It keeps each step's result in the
    # Folder before the next step begins, and skips steps whose results are there. So an interrupted tune can continue
    # where it stopped.
    class Session
      TRIED = 3 # the number of best settings that are verified beside the present one
      LEAST_TRIED = 1
      FURTHER = 2 # verifications of an answer that the first one did not measure, at most
      SPARE = 5 # seconds for the answer, besides simulations

      # Warnings of what a Footprint does not know.
      UNCHECKED = {
        memory: "the profile has no figures of memory, so only measured settings were held to --memory: increase " \
                "--budget",
        workers: "the profile has no figures of the memory of workers, so of the settings with workers only measured " \
                 "ones were held to --memory: increase --budget",
        connections: "the profile has no figures of database connections, so --db-connections had no effect: count " \
                     "one for each thread"
      }.freeze

      attr_reader :folder

      # folder: of a new tune, or of one to resume. budget: seconds, in place of the tune's own budget. out: receives
      # the progress. profiler: makes the object that measures a Profile.
      def initialize(folder, out:, budget: nil, profiler: nil)
        @folder = folder
        @options = budget ? folder.options.with(budget: budget) : folder.options
        @out = out
        @profiler = profiler || proc { |*given, **options| Profiler.new(*given, **options) }
        @began = Cuttle.now - Lab::Runner::Lock.waited
        @profiled = folder.there?(Profile::FILE)
        @searching = 0 # seconds that the search took
        @pace = 1.0 # how many times as long as planned a verification took
        @runs = {}
        @warnings = []
      end

      # Returns the Advice, which is then in the folder. Raises Failure, Lab::Failure, UsageError and Interrupt.
      def run
        @out.puts "#{folder.path}: #{@options.app}, seed #{@options.seed}"
        profile = profile()
        settle_cores(profile)
        advice = answer(profile, (verification(profile) if @options.verify))
        advice.write(folder.at(Advice::FILE))
        advice
      end

      # Whether Ctrl-C ended the tune before all measurements were done.
      def interrupted?
        @interrupted || false
      end

      private

      def profile
        return of_this_machine(Profile.read(folder.at(Profile::FILE))) if @profiled
        return adopted if @options.kept

        profiler = @profiler.call(@options.to_lab(engines: @options.engines), budget: @options.budget, out: @out)
        profile = unpinned { profiler.run }
        folder.write(profiler.interrupted? ? Folder::PARTIAL : Profile::FILE, profile.to_h)
        raise Interrupt if profiler.interrupted?

        profile
      end

      # Copies a kept profile, because it belongs to another tune.
      def adopted
        profile = of_this_app(of_this_machine(Profile.read(@options.kept)))
        folder.write(Profile::FILE, profile.to_h)
        profile
      end

      # The profile; warns if it is not of this machine and this Ruby.
      def of_this_machine(profile)
        strange = Elsewhere.differences(profile, @options.cpus)
        warn_of("the profile was made on another machine (#{strange.join("; ")})") if strange.any?
        profile
      end

      # The profile; warns if it was measured with another app.
      def of_this_app(profile)
        name, path = profile.app.to_h.values_at("name", "path")
        own = Lab::Apps.find(@options.app, profile: @options.work).name
        warn_of("the profile was measured with another app: #{name}, and not #{own}") if path && name != own
        profile
      end

      # Sets the number of cores for the answer, and for the verification: at most as many as this machine has.
      def settle_cores(profile)
        server = Elsewhere.server_cores(@options, profile)
        @cores = @options.limits.cores || server
        @here = [@cores, server].min
        return if @cores <= @here

        warn_of("the server has #{Load::Units.plural(@here, "core")} here: the model extrapolates the results for " \
                "#{Load::Units.plural(@cores, "core")}")
      end

      def search(profile, cores, limits = @options.limits)
        Search.new(model(profile), profile, limits: limits, engines: @options.engines, cores: cores,
                                                present: @options.present).run
      end

      # The search and the advice share the results of simulations. Corrections change the rates of open loops, so the
      # advice simulates those again.
      def model(profile, **options)
        Model.new(profile, runs: @runs, connections: @options.limits.connections, **options)
      end

      # The Advice, from a Verified or nil. The corrected model may prefer a setting that was not measured: that one is
      # measured first, if there is time.
      def answer(profile, verified)
        profile = corrected(profile, verified) if verified
        advisor = Advisor.new(@options, profile: profile, verified: verified, cores: @cores, here: @here,
                                        model: method(:model))
        more = further(advisor.unmeasured, profile, verified) if verified
        more ? answer(profile, more) : advise(advisor, profile)
      end

      # The Verified of the tune's verifications. The first one is made, and an unfinished one continued.
      def verification(profile)
        @labs = folder.verifications
        @labs[-1] = resume(@labs.last) if @labs.any? && unfinished?(@labs.last)
        @labs << measure(profile) if @labs.empty?
        verified_so_far
      end

      # Verifies +setting+ as well, beside the present one. Returns the Verified of all verifications, or nil if there
      # is nothing to verify, or no time.
      def further(setting, profile, verified)
        return if setting.nil? || interrupted? || verified.tried?(setting) || @labs.length > FURTHER

        settings = [@options.present, setting].compact.uniq - verified.failures.keys
        slots = Grid.new(profile, engines: @options.engines, cores: @here).slots
        tried = verification_of(settings, profile, rate: verified.rate, slots: slots)
        return if tried.least(**wanted) * @pace > left

        @labs << carry_out(tried, tried.size(left / @pace, **wanted))
        verified_so_far
      rescue Lab::Failure => error
        warn_of("#{setting.name} was not measured: #{error.message}")
        nil
      end

      def verified_so_far
        @interrupted = @labs.last.interrupted?
        @labs.each { |results| keep_warnings(results) }
        verified = Verified.of(@labs)
        return verified if verified.measurements.any?
        raise Interrupt if interrupted?

        raise Failure, "no closed loop of the verification is valid: #{verified.troubles.first || "nothing ran"}"
      end

      # Whether it was interrupted or ran out of time.
      def unfinished?(results)
        results.interrupted? || results.rounds_run < results.rounds
      end

      def resume(results)
        lab = lab_options.to_lab(resume: results.directory, rounds: results.rounds, duration: results.duration,
                                 budget: for_verification)
        Lab::Results.read(unpinned { Lab.run(lab, out: @out, least: Verification.least_rounds(@options)) })
      end

      def measure(profile)
        before = elapsed
        found = search(profile, @here, within_reach)
        @searching = elapsed - before
        carry_out(*affordable(found, profile))
      end

      # The Lab::Results of a Verification of that Size.
      def carry_out(verification, size)
        before = elapsed
        results = Lab::Results.read(unpinned do
          verification.run(lab_options, size, budget: for_verification, directory: folder.at("verification"), out: @out)
        end)
        planned = verification.least(rounds: results.rounds_run, duration: size.duration)
        @pace = [(elapsed - before) / planned, 1.0].max
        results
      end

      # Seconds for the verification. Rounds that the user asked for run even if no time is left.
      def for_verification
        [left, 1].max
      end

      # A measurement pins this process to the load's cores. Unpinned, the next step finds the other cores again.
      def unpinned
        allowed = Lab::Machine::Cores.allowed
        yield
      ensure
        Lab::Machine::Cores.new(server: allowed, load: allowed, allowed: allowed).pin_self
      end

      # Leaves out a target rate that needs more cores than this machine has.
      def within_reach
        limits = @options.limits
        @cores == @here ? limits : Limits.new(**limits.to_h, rate: nil, cores: nil)
      end

      # [Verification, its Size] for the best settings and the present one: as many as the time allows.
      def affordable(found, profile)
        TRIED.downto(LEAST_TRIED) do |count|
          tried = verification_of(settings(found, count), profile, rate: found.demand.rate, slots: found.grid.slots)
          size = tried.size(left, **wanted)
          return [tried, size] if size
          next if count > LEAST_TRIED

          too_short(tried.least(**wanted))
        end
      end

      # A Verification of these settings.
      def verification_of(settings, profile, **how)
        Verification.new(settings, present: @options.present, boot: profile.boot,
                                   footprint: Footprint.new(profile, limit: @options.limits.connections), **how)
      end

      # Names the budgets that are enough, for a search that takes twice as long. least: seconds that a verification
      # takes.
      def too_short(least)
        again = [(SPARE + (4 * @searching) + least + 1).ceil, Options::LEAST_BUDGET].max
        enough = ": --budget #{for_everything(least + (2 * @searching) + 1)}s would be enough" unless @profiled
        raise Failure, "the budget is too short to verify the answer#{enough}. The profile is kept: cuttle tune " \
                       "--resume #{folder.path} --budget #{again}s"
      end

      # The budget of a new tune that leaves so many seconds to the verification: its profile takes a share of what is
      # added.
      def for_everything(least)
        share = @options.kept ? 0 : Profiler::SHARE
        (@options.budget + ((least - left) / (1 - share))).ceil
      end

      # The user's own size of a verification.
      def wanted = { rounds: @options.rounds, duration: @options.duration }

      # The present setting is the baseline. The best number of threads and -t auto are measured side by side, because
      # the loss through auto can't be predicted. If its own limit is too low, auto is measured with a higher one.
      def settings(found, count)
        best, *others = found.outcomes.map(&:setting)
        counterpart = best.auto? ? found.best.stand_in : found.grid.auto_beside(best)
        [@options.present, *[best, counterpart, *others].compact.uniq.first(count)].compact.uniq
      end

      # Seconds of the budget that are left for measurements. The answer simulates for about as long as the search.
      def left
        @options.budget - elapsed - SPARE - @searching
      end

      # Seconds since the beginning, without waiting until other labs end.
      def elapsed
        Cuttle.now - Lab::Runner::Lock.waited - @began
      end

      # With fewer cores than there are here, servers get only those.
      def lab_options
        return @options unless @options.limits.cores

        cores = Lab::Machine::Cores.new(**@options.cpus)
        @options.with(cpus: { server: cores.server.first(@here), load: cores.load })
      end

      def corrected(profile, verified)
        plain = profile.with(corrections: [])
        profile.with(corrections: verified.corrections(model(plain), cores: @here))
               .tap { |corrected| corrected.write(folder.at(Profile::FILE)) }
      end

      def advise(advisor, profile)
        advisor.advice(id: folder.id, taken_at: Time.now.utc.iso8601(3), app: profile.app&.fetch("name", nil),
                       warnings: [*profile.notes, *@warnings, *unchecked(profile)].uniq)
      end

      # Limits that predictions could not be held to.
      def unchecked(profile)
        UNCHECKED.values_at(*Footprint.new(profile).unknown(@options.limits))
      end

      def keep_warnings(results)
        view = Lab::Report::View.new(results, Lab::Analysis.new(results))
        view.warnings.each { |each| @warnings << [each.text, each.advice].compact.join("; ") }
        Verified.new(results).troubles.each { |trouble| @warnings << trouble }
        return unless results.interrupted?

        @warnings << "the verification was interrupted; to continue it: cuttle tune --resume #{folder.path}"
      end

      def warn_of(text)
        @warnings << text
        @out.puts "warning: #{text}"
      end
    end
  end
end

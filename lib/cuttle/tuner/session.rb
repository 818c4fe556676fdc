# frozen_string_literal: true

module Cuttle
  module Tuner
    # Carries out a tune from start to end: profile, search, verification, advice. Each step's result is in the Folder
    # before the next step begins, and a step whose result is there is not done again: so a tune that was interrupted
    # goes on where it stopped.
    class Session
      TRIED = 3 # of the best settings are verified, and the present one
      LEAST_TRIED = 1
      SPARE = 5 # seconds for the search and the answer

      attr_reader :folder

      # folder: of a new tune, or of one that goes on. budget: seconds in place of the tune's own. Progress goes to
      # +out+. profiler: makes what measures a Profile.
      def initialize(folder, out:, budget: nil, profiler: nil)
        @folder = folder
        @options = budget ? folder.options.with(budget: budget) : folder.options
        @out = out
        @profiler = profiler || proc { |*given, **options| Profiler.new(*given, **options) }
        @began = Cuttle.now
        @runs = {}
        @warnings = []
      end

      # Returns the Advice, which is in the folder then. Raises Failure, Lab::Failure, UsageError and Interrupt.
      def run
        @out.puts "#{folder.path}: seed #{@options.seed}"
        profile = profile()
        settle_cores(profile)
        verified = (verification(profile) if @options.verify)
        profile = corrected(profile, verified) if verified
        advise(profile, verified).tap { |advice| advice.write(folder.at(Advice::FILE)) }
      end

      # Whether Ctrl-C ended it before all was measured.
      def interrupted?
        @interrupted || false
      end

      private

      def profile
        return Profile.read(folder.at(Profile::FILE)) if folder.there?(Profile::FILE)
        return adopted if @options.kept

        profiler = @profiler.call(@options.to_lab(engines: @options.engines), budget: @options.budget, out: @out)
        profile = unpinned { profiler.run }
        folder.write(profiler.interrupted? ? Folder::PARTIAL : Profile::FILE, profile.to_h)
        raise Interrupt if profiler.interrupted?

        profile
      end

      # A profile that was kept. It is not this tune's, so it is copied.
      def adopted
        profile = Profile.read(@options.kept)
        strange = Elsewhere.differences(profile, @options.cpus)
        warn_of("the profile is of another machine (#{strange.join("; ")})") if strange.any?
        folder.write(Profile::FILE, profile.to_h)
        profile
      end

      # Those of the answer, and those of the verification: no more than there are here.
      def settle_cores(profile)
        server = Elsewhere.server_cores(@options, profile)
        @cores = @options.limits.cores || server
        @here = [@cores, server].min
        return if @cores <= @here

        warn_of("the server has #{Load::Units.plural(@here, "core")} here: results for #{@cores} are extrapolated by " \
                "the model")
      end

      def search(profile, cores, limits = @options.limits)
        Search.new(model(profile), profile, limits: limits, engines: @options.engines, cores: cores,
                                                present: @options.present).run
      end

      # The search and the advice ask for many of the same simulations.
      def model(profile, **options)
        Model.new(profile, runs: @runs, **options)
      end

      # What the last verification measured, after making it or going on with it; nil if nothing was.
      def verification(profile)
        results = folder.verification
        results = resume(results) if results && unfinished?(results)
        results ||= measure(profile)
        @interrupted = results.interrupted?
        keep_warnings(results)
        verified = Verified.new(results)
        return verified if verified.measurements.any?
        raise Interrupt if interrupted?

        raise Failure, "no run of the verification is valid: #{verified.troubles.first || "nothing ran"}"
      end

      # Interrupted, or out of time.
      def unfinished?(results)
        results.interrupted? || results.rounds_run < results.rounds
      end

      def resume(results)
        lab = lab_options.to_lab(resume: results.directory, rounds: results.rounds, duration: results.duration,
                                 budget: for_verification)
        Lab::Results.read(unpinned { Lab.run(lab, out: @out, least: Verification.least_rounds(@options)) })
      end

      def measure(profile)
        found = search(profile, @here, within_reach)
        verification, size = affordable(found, profile)
        Lab::Results.read(unpinned do
          verification.run(lab_options, size, budget: for_verification, directory: folder.at("verification"), out: @out)
        end)
      end

      # Seconds. Rounds that the user asked for are made even if nothing is left.
      def for_verification
        [left, 1].max
      end

      # Measuring pins this process to the load's cores. Without this, the next step would find no other core.
      def unpinned
        allowed = Lab::Machine::Cores.allowed
        yield
      ensure
        Lab::Machine::Cores.new(server: allowed, load: allowed, allowed: allowed).pin_self
      end

      # A rate that needs more cores than there are here is not offered to them.
      def within_reach
        limits = @options.limits
        @cores == @here ? limits : Limits.new(**limits.to_h, rate: nil, cores: nil)
      end

      # [Verification, its Size] of the best settings and the present one, as many as there is time for.
      def affordable(found, profile)
        TRIED.downto(LEAST_TRIED) do |count|
          tried = Verification.new(settings(found, count), rate: found.demand.rate, slots: found.grid.slots,
                                                           boot: profile.boot)
          size = tried.size(left, rounds: @options.rounds, duration: @options.duration)
          return [tried, size] if size
          next if count > LEAST_TRIED

          enough = (@options.budget - left + tried.least + SPARE).ceil
          raise Failure, "the budget is too short to verify the answer: --budget #{enough}s would be enough. The " \
                         "profile is kept: cuttle tune --resume #{folder.path} --budget #{tried.least + SPARE + 1}s"
        end
      end

      # The present one is what the others are compared with. The best number of threads and threads auto are measured
      # beside each other, because what auto loses can't be predicted.
      def settings(found, count)
        best, *others = found.outcomes.map(&:setting)
        counterpart = best.auto? ? found.best.stand_in : found.grid.auto_beside(best)
        [@options.present, *[best, counterpart, *others].compact.uniq.first(count)].compact.uniq
      end

      # Seconds of the budget that are left for measuring.
      def left
        @options.budget - (Cuttle.now - @began) - SPARE
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

      def advise(profile, verified)
        Advisor.new(@options, profile: profile, verified: verified, cores: @cores, here: @here, model: method(:model))
               .advice(id: folder.id, taken_at: Time.now.utc.iso8601(3), app: profile.app&.fetch("name", nil),
                       warnings: [*profile.notes, *@warnings].uniq)
      end

      def keep_warnings(results)
        view = Lab::Report::View.new(results, Lab::Analysis.new(results))
        view.warnings.each { |each| @warnings << [each.text, each.advice].compact.join("; ") }
        Verified.new(results).troubles.each { |trouble| @warnings << trouble }
        @warnings << "the verification was interrupted: cuttle tune --resume #{folder.path}" if results.interrupted?
      end

      def warn_of(text)
        @warnings << text
        @out.puts "warning: #{text}"
      end
    end
  end
end

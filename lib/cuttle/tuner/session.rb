# frozen_string_literal: true

module Cuttle
  module Tuner
    # Carries out a tune from start to end: profile, search, verification, advice. It keeps each step's result in the
    # Folder before the next step begins, and skips steps whose results are there. So an interrupted tune can continue
    # where it stopped.
    class Session
      autoload :Budget, "cuttle/tuner/session/budget"
      autoload :Verifications, "cuttle/tuner/session/verifications"

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
        @profiled = folder.there?(Profile::FILE)
        @budget = Budget.new(@options.budget, profile: profile_share)
        @runs = {}
        @warnings = []
      end

      # Returns the Advice, which is then in the folder. Raises Failure, Lab::Failure, UsageError and Interrupt.
      def run
        @out.puts "#{folder.path}: #{@options.app}, seed #{@options.seed}"
        profile = profile()
        settle_cores(profile)
        advice = answer(profile, (verifications.run(profile) if @options.verify))
        advice.write(folder.at(Advice::FILE))
        advice
      end

      # Whether Ctrl-C ended the tune before all measurements were done.
      def interrupted?
        @verifications&.interrupted? || false
      end

      private

      # The share of the budget that the profile takes, or nil if it is there already.
      def profile_share
        return if @profiled

        @options.kept ? 0 : Profiler::SHARE
      end

      def profile
        return of_this_machine(Profile.read(folder.at(Profile::FILE))) if @profiled
        return adopted if @options.kept

        profiler = @profiler.call(@options.to_lab(engines: @options.engines), budget: @options.budget, out: @out)
        profile = profiler.run
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

      def verifications
        @verifications ||= Verifications.new(folder, lab_options, cores: @here, budget: @budget, out: @out,
                                                                  search: method(:search))
      end

      # Verifies the setting too. Returns the Verified of all verifications, or nil.
      def further(setting, profile, verified)
        verifications.further(setting, profile, verified)
      rescue Lab::Failure => error
        warn_of("#{setting.name} was not measured: #{error.message}")
        nil
      end

      # The Search for settings that can be measured here.
      def search(profile)
        Search.new(model(profile), profile, limits: within_reach, engines: @options.engines, cores: @here,
                                            present: @options.present)
      end

      # Leaves out a target rate that needs more cores than this machine has.
      def within_reach
        limits = @options.limits
        @cores == @here ? limits : Limits.new(**limits.to_h, rate: nil, cores: nil)
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
                       warnings: [*profile.notes, *@warnings, *@verifications&.warnings, *unchecked(profile)].uniq)
      end

      # Limits that predictions could not be held to.
      def unchecked(profile)
        UNCHECKED.values_at(*Footprint.new(profile).unknown(@options.limits))
      end

      def warn_of(text)
        @warnings << text
        @out.puts "warning: #{text}"
      end
    end
  end
end

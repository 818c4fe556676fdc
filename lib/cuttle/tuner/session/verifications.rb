# frozen_string_literal: true

module Cuttle
  module Tuner
    class Session
      # The verifications of a tune: the first one, of the best settings, and further ones, of answers that it did not
      # measure. Their results are in the Folder.
      class Verifications
        TRIED = 3 # the number of best settings that are verified beside the present one
        LEAST_TRIED = 1
        FURTHER = 2

        # options: Tuner::Options with the cores of the servers; cores: their number. budget: a Budget. search: makes a
        # Search of a profile.
        def initialize(folder, options, cores:, budget:, search:, out:)
          @folder = folder
          @options = options
          @cores = cores
          @budget = budget
          @search = search
          @out = out
          @labs = folder.verifications
        end

        # Makes the first verification, or continues an unfinished one. Returns the Verified of all.
        def run(profile)
          @labs[-1] = resume(@labs.last) if @labs.any? && unfinished?(@labs.last)
          @labs << carry_out(*affordable(@budget.search { @search.call(profile).run }, profile)) if @labs.empty?
          verified
        end

        # Verifies +setting+ as well, beside the present one. verified: what there is so far. Returns the Verified of
        # all, or nil if there is nothing to verify, or no time. Raises Lab::Failure.
        def further(setting, profile, verified)
          return if setting.nil? || interrupted? || verified.tried?(setting) || @labs.length > FURTHER

          settings = [@options.present, setting].compact.uniq - verified.failures.keys
          slots = Grid.new(profile, engines: @options.engines, cores: @cores).slots
          tried = verification(settings, profile, rate: verified.rate, slots: slots)
          return if tried.least(**size) > @budget.further

          @labs << carry_out(tried, tried.size(@budget.further, **size))
          self.verified
        end

        # Whether Ctrl-C ended the last one.
        def interrupted?
          @labs.any? && @labs.last.interrupted?
        end

        # What the results warn of: lines.
        def warnings
          @labs.flat_map do |results|
            seen = Lab::Report::View.new(results, Lab::Analysis.new(results)).warnings
            [*seen.map { |each| [each.text, each.advice].compact.join("; ") }, *Verified.new(results).troubles,
             *(continuing if results.interrupted?)]
          end.uniq
        end

        private

        def continuing
          "the verification was interrupted; to continue it: cuttle tune --resume #{@folder.path}"
        end

        def verified
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
          lab = @options.to_lab(resume: results.directory, rounds: results.rounds, duration: results.duration,
                                budget: @budget.for_measurement)
          Lab::Results.read(Lab.run(lab, out: @out, least: Verification.least_rounds(@options)))
        end

        # The Lab::Results of a Verification of that Size.
        def carry_out(verification, size)
          @budget.measure do
            results = Lab::Results.read(verification.run(@options, size, budget: @budget.for_measurement, out: @out,
                                                                         directory: @folder.at("verification")))
            [results, verification.least(rounds: results.rounds_run, duration: size.duration)]
          end
        end

        # [Verification, its Size] for the best settings and the present one: as many as the time allows.
        def affordable(found, profile)
          TRIED.downto(LEAST_TRIED) do |count|
            tried = verification(found.contenders(count, present: @options.present), profile,
                                 rate: found.demand.rate, slots: found.grid.slots)
            size = tried.size(@budget.left, **self.size)
            return [tried, size] if size
            next if count > LEAST_TRIED

            too_short(tried.least(**self.size))
          end
        end

        def verification(settings, profile, **how)
          Verification.new(settings, present: @options.present, boot: profile.boot,
                                     footprint: Footprint.new(profile, limit: @options.limits.connections), **how)
        end

        # The user's own size of a verification.
        def size = { rounds: @options.rounds, duration: @options.duration }

        # Names the budgets that are enough. least: seconds that a verification takes.
        def too_short(least)
          enough = @budget.to_repeat(least)&.then { |seconds| ": --budget #{seconds}s would be enough" }
          raise Failure, "the budget is too short to verify the answer#{enough}. The profile is kept: cuttle tune " \
                         "--resume #{@folder.path} --budget #{@budget.to_resume(least)}s"
        end
      end
    end
  end
end

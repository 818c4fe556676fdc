# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # Threats to validity: possible errors of the findings. Numbers come from the results.
      module Threats
        TITLE = "Threats to validity"
        LOOPBACK = "Load and servers run on one machine and use its loopback interface. So no network loses or " \
                   "delays anything, unless a study says so."
        SERVERS = "The servers are today's releases, unless a name has a version. They are not the versions that " \
                  "were measured then; docs/study.md says which of those can still be installed."
        SOURCES = "If a claim has numbers, its ranges come from its own words (\"over 8 times\": above 8). " \
                  "Otherwise \"alike\" is 0.9 to 1.1, and \"better\" is above or below 1. Three claims (s0.15, " \
                  "s4.18, s4.19) are expectations of their authors, who published no number for them."
        FIXED = "The ranges were committed with the declarations, before the kept runs began (11d6358, 6b4357e, " \
                "8e1741b, 9cc7d29; later ones 741f233, c472647, 51fb840, 1bdbe5c, 6fdc875, 765ca2e, 0931a74, " \
                "bdad526, 2b4a14e6, 8900ed72, c8fc419d, 1bef840). Exceptions: q19's statements on invokedynamic " \
                "came with their results, with the ranges of the statements beside them, and s4.6 (below)."
        CHANGED = "Declarations that were changed after runs, which are not kept unless this says so. s3.6: its pair " \
                  "was chosen because it differed. q9.4: larger responses, fewer clients, the bound 0.5 instead of " \
                  "0.3 (e174173e). s4.7, s4.12: the models are compared at the same concurrency. s0.5, s0.9: refuted " \
                  "with shorter requests, now measured at full length. s4.6: it compared 8 processes with 1, a ratio " \
                  "that is low even if they share nothing; of their resident sizes, the first bound was 0.5, which " \
                  "the kept run refuted and the publication doesn't have. s4.15: refuted with two requests for each " \
                  "connection, for which a second of waiting in the kernel decided the rate; now there are ten. " \
                  "s0.11, s0.12: one statement each is no longer tested on two cores, which decide it; the others " \
                  "were confirmed while the load took 5% of a shared core, and were measured again with longer " \
                  "requests (s0-pairs)."

        WIDE = 1.1 # a control with a wider interval, to either side, can't show a difference of 10%

        module_function

        # Sentences. all: the Findings of each study; at least one. again: further Findings, with other Rubies.
        def of(all, again: [])
          [cores(all), *calls(all), *pinning(all), LOOPBACK, rubies(all, again), SERVERS, *scales(all), rounds(all),
           controls(all), "#{SOURCES} #{FIXED}", CHANGED]
        end

        def cores(all)
          machines = all.map { |each| machine(each.results.environment) }.uniq
          "Everything ran on #{machines.join(" and ")}. Claims that need more cores are not tested, and the load of " \
            "neighbours on the same silicon is not visible."
        end

        def machine(environment)
          [environment["cores"] && Units.plural(environment["cores"], "core"), environment["cpu"]].compact.join(" of ")
        end

        # Results from before this was recorded don't have it.
        def calls(all)
          slow = all.filter_map { |each| each.results.environment["system_call"] }
                    .select { |seconds| seconds >= Lab::Machine::Warnings::CALL }
          return if slow.empty?

          format("In %s a system call took up to %.1f us, several times as long as on most machines. There a server " \
                 "that makes fewer of them gains more.", studies(slow.length), slow.max * 1e6)
        end

        # Servers and load are pinned. If there are too few cores, they share one.
        def pinning(all)
          shared = all.count { |each| each.shared_cores.any? }
          return if shared.zero?

          "Servers and load are pinned to cores. In #{shared} of #{studies(all.length)} the " \
            "load shared a core with the servers; each study's conditions say how much of the core it used."
        end

        def rubies(all, again)
          "Rubies: #{tally(all)}#{"; again #{tally(again)}" if again.any?}. The publications used 1.9 to 2.6."
        end

        # "Ruby 3.1 in 29 studies, Ruby 4.0 with YJIT in 2 studies"
        def tally(all)
          all.map { |each| ruby(each.results.environment) }.tally
             .map { |name, count| "#{name} in #{studies(count)}" }.join(", ")
        end

        # "2 studies"
        def studies(count)
          "#{count} #{count == 1 ? "study" : "studies"}"
        end

        # "Ruby 4.0 with YJIT"
        def ruby(environment)
          "Ruby #{environment["ruby"].to_s[/\d+\.\d+/]}#{" with YJIT" if environment["yjit"]}"
        end

        def scales(all)
          shorter = all.reject { |each| each.scale.full? }
          return if shorter.empty?

          least = shorter.map { |each| each.scale.factor }.min
          "#{studies(shorter.length)} of #{all.length} ran with shorter or fewer requests " \
            "(down to #{format("%g", least)} times). The cost of the server weighs more there, and Ruby's " \
            "quantum of 100 ms is longer beside them, except where single measurements have full length."
        end

        def rounds(all)
          least, most = all.map(&:rounds).minmax
          "#{[least, most].uniq.join(" to ")} rounds are few. Intervals assume that logarithms of ratios are " \
            "normally distributed, which so few rounds can't show. Their variance is estimated from the whole study " \
            "where it has enough comparable pairs, otherwise from the pair's own rounds."
        end

        def controls(all)
          found = all.filter_map(&:control)
          agreed = found.select { |control| Conditions.agrees?(control) }
          wide = agreed.count { |control| control.high > control.low * (WIDE**2) }
          "An A/A control was measured in #{found.length} of #{studies(all.length)}, and agreed in " \
            "#{agreed.length}; in #{wide} of these, a difference of 10% would not have shown. Without it, only the " \
            "spread between rounds separates noise from a difference."
        end
      end
    end
  end
end

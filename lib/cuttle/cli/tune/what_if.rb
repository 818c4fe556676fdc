# frozen_string_literal: true

require "json"

module Cuttle
  class CLI
    class Tune
      # `cuttle tune --what-if …`: forecasts of a kept profile, held against the limits. Nothing is measured or written.
      class WhatIf
        # What a Footprint does not know, and what follows.
        UNKNOWN = { memory: "memory: --memory has no effect",
                    workers: "the memory of workers: --memory has no effect on settings with workers",
                    connections: "database connections: --db-connections has no effect" }.freeze

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status; raises UsageError and Error.
        def run(options)
          path = options.kept || latest(options.directory)
          @profile = Tuner::Profile.read(path)
          @limits = options.limits
          warn_of_another_machine(path)
          warn_of_unknown_figures(path)
          @base, @name, @demand, @cores = base(options, File.dirname(path))
          answers = options.questions.map { |text| answer(Tuner::Question.new(text, base: @base)) }
          outcomes = [["#{@base.name} (#{@name})", outcome(@profile, @base, @demand, @cores)], *answers]
          options.json ? json(outcomes) : text(path, outcomes)
          0
        end

        private

        def latest(directory)
          folder = Tuner::Folder.latest(directory, Tuner::Profile::FILE)
          raise UsageError, "no kept profile in #{directory}: run cuttle tune, or name one with --profile" unless folder

          folder.at(Tuner::Profile::FILE)
        end

        def warn_of_another_machine(path)
          strange = Tuner::Elsewhere.differences(@profile, {})
          @err.puts "cuttle: #{path} was made on another machine: #{strange.join("; ")}" if strange.any?
        end

        def warn_of_unknown_figures(path)
          UNKNOWN.values_at(*Tuner::Footprint.new(@profile).unknown(@limits)).each do |figures|
            @err.puts "cuttle: #{path} has no figures of #{figures}"
          end
        end

        # The setting that questions start from: the answer of the profile's tune, otherwise the app's present setting.
        # The demand is the given rate, otherwise the tune's rate, otherwise a rate that leaves headroom.
        def base(options, directory)
          kept = File.join(directory, Tuner::Advice::FILE)
          advice = Tuner::Advice.read(kept) if File.file?(kept)
          setting = advice ? advice.choice.setting : options.present.setting
          name = advice ? "the answer" : options.present.place
          cores = options.limits.cores || advice&.cores || home
          rate = options.limits.rate || advice&.demand&.rate || room(setting, cores)
          [setting, name, Tuner::Demand.open(rate), cores]
        end

        def home
          @profile.environment&.fetch("server_cores", nil)&.length || 1
        end

        def room(setting, cores)
          model(@profile, setting).capacity(setting, cores: cores).first * Tuner::Ranking::ROOM
        end

        # [name, Outcome]
        def answer(question)
          [question.name, outcome(question.profile(@profile), question.setting, question.demand(@demand),
                                  question.cores || @cores)]
        end

        def outcome(profile, setting, demand, cores)
          forecast = model(profile, @base).forecast(setting, demand, cores: cores)
          Tuner::Outcome.predicted(forecast, Tuner::Margin.new(profile))
        end

        def model(profile, base)
          Tuner::Model.new(profile, base: base, connections: @limits.connections)
        end

        def json(outcomes)
          @out.puts JSON.generate(Tuner::Advice::Document.plain(outcomes.map do |name, each|
            { name: name, excess: each.excess(@limits), **each.to_h }
          end))
        end

        def text(path, outcomes)
          cores = Tuner::Report::Units.plural(@cores, "core")
          at = " at #{@demand.name}" if Tuner::Report::Table.same_load?(outcomes)
          @out.puts "#{@profile.app&.fetch("name", nil)}#{at}, #{cores}, predicted by #{path}"
          @out.puts Tuner::Report::Table.forecasts(outcomes)
          (name, base), *others = outcomes
          about = remarks(base)
          @out.puts "", "#{name}: #{about.join("; ")}" if about.any?
          others.each do |asked, each|
            said = [Tuner::Report::Words::LIMITED_BY[each.limit], *remarks(each)].compact
            @out.puts "", "#{asked}: #{Tuner::Report::Steps.difference(base, each)}", "  #{said.join("; ")}"
          end
        end

        # How -t auto and fibers were forecast, and the limits that the outcome breaks.
        def remarks(outcome)
          as = Tuner::Report::Words.taken_for(outcome)
          broken = Tuner::Report::LimitWords.excess(outcome, @limits)
          fibers = Tuner::Footprint.new(@profile, limit: @limits.connections).max_fibers(outcome.setting)
          [("forecast #{as}" if as), ("forecast with --max-fibers #{fibers}, to keep --db-connections" if fibers),
           ("breaks a limit: #{broken}" unless broken.empty?)].compact
        end
      end
    end
  end
end

# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    # `cuttle study [NAME …]`: the published experiments, made again. Exit statuses:
    #
    #   0 done · 1 nothing could be measured or written · 2 wrong usage · 130 interrupted (what there is was told)
    class Study
      BANNER = <<~TEXT.chomp
        Usage: cuttle study                        the studies there are
               cuttle study NAME … [OPTION …]      make them: s0-ab, s4, s0.10 (one published row), all
               cuttle study show DIR               what a study found that ran, or runs still
               cuttle study --resume DIR           go on with one that did not come to its end
        Published experiments on the concurrency of Ruby servers, again: the same app, model and load, the published
        numbers beside ours, and what becomes of each claim.
      TEXT

      def initialize(out:, err:)
        @out = out
        @err = err
        @scale = 1.0
        @directory = "study-results"
      end

      # Returns the exit status; raises UsageError and Error.
      def run(arguments)
        words = parser.parse(arguments)
        return 0 if @help
        return resume(words) if @resume
        return show(words.drop(1)) if words.first == "show"

        words.empty? ? list : measure(words)
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      private

      def parser
        OptionParser.new do |parser|
          parser.banner = BANNER
          parser.separator ""
          measuring(parser)
          parser.on("--directory DIR", "where results go (study-results)") { |path| @directory = path }
          parser.on("--resume DIR", "go on with a study that did not come to its end") { |path| @resume = path }
          parser.on("--debug", "backtraces of what goes wrong") { nil }
          parser.on("-h", "--help", "this") { @out.puts(parser) || @help = true }
        end
      end

      def measuring(parser)
        parser.on("--scale N", Float, "waits, computing and numbers of requests by that factor, 0.01 to 1 (1)") do |factor|
          @scale = factor
        end
        parser.on("--rounds N", OptionParser::DecimalInteger, "blocks (each study's own)") { |number| @rounds = number }
        parser.on("--seed N", OptionParser::DecimalInteger, "of the order (printed)") { |number| @seed = number }
      end

      def list
        Studies.all.each { |study| @out.puts "#{study.name.ljust(12)} #{study.title}\n#{" " * 13}#{study.source}" }
        0
      end

      def measure(words)
        raise UsageError, "--scale: 0.01 to 1, not #{@scale}" unless @scale.between?(0.01, 1)

        came_to_their_end = Studies.select(words).all? { |study| tell(experiment(study, words).run(out: @err)) }
        came_to_their_end ? 0 : 130
      end

      def experiment(study, words)
        Studies::Experiment.new(study, scale: Studies::Scale.new(@scale), seed: @seed, rounds: @rounds,
                                directory: File.join(@directory, study.name), command: command(words))
      end

      # What makes the same again; the lab adds the seed.
      def command(words)
        ["cuttle", "study", *words, *(["--scale", format("%g", @scale)] if @scale != 1),
         *(["--rounds", @rounds.to_s] if @rounds)]
      end

      def resume(words)
        raise UsageError, "--resume takes no names: they are in the results" if words.any?

        tell(Studies::Experiment.resume(@resume, out: @err)) ? 0 : 130
      end

      def show(directories)
        raise UsageError, "show takes one directory" unless directories.length == 1

        tell(directories.first)
        0
      end

      # Whether it came to its end.
      def tell(directory)
        findings = Studies::Findings.new(*Studies::Experiment.read(directory))
        @out.puts Studies::Report::Text.render(findings), "", directory
        !findings.results.interrupted?
      end
    end
  end
end

# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    # `cuttle study [NAME …]`: repeats the published experiments. Exit statuses:
    #
    #   0 done · 1 nothing could be measured or written · 2 wrong usage · 130 interrupted (results so far were reported)
    class Study
      autoload :Documents, "cuttle/cli/study/documents"
      autoload :Sitting, "cuttle/cli/study/sitting"

      DIRECTORY = "study-results"
      BANNER = <<~TEXT.chomp
        Usage: cuttle study                        list the studies
               cuttle study NAME … [OPTION …]      run studies: s0-ab, s4, s0.10 (one published row), all
               cuttle study --resume DIR           continue an interrupted study
               cuttle study missing [NAME …]       print what kept results lack, and about how long it takes
               cuttle study NAME … --budget TIME   measure that for so long, the shortest first; later, continue
               cuttle study show DIR               print the findings of a study, even while it runs
               cuttle study keep DIR …             keep these results as those of their studies
               cuttle study report [-o FILE]       write an HTML page of all kept results, docs/studies.md, READMEs
        Repeats published experiments on the concurrency of Ruby servers: the same app, model and load. Prints the
        published numbers beside the new ones, and a verdict on each claim. Kept results are in studies/NAME.
      TEXT

      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Returns the exit status; raises UsageError and Error.
      def run(arguments)
        words = CLI.parse(parser, arguments)
        return resume(words) if @resume

        case words.first
        when nil then list
        when "missing" then missing(words.drop(1))
        when "show" then show(words.drop(1))
        when "keep" then documents.keep(words.drop(1))
        when "report" then documents.report(words.drop(1), directory: @directory, output: @output)
        else measure(words)
        end
      end

      private

      def parser
        OptionParser.new do |parser|
          parser.banner = BANNER
          parser.separator ""
          measuring(parser)
          writing(parser)
          parser.on("--resume DIR", "continue an interrupted study") { |path| @resume = path }
          parser.on("--debug", "print backtraces of errors") { nil }
          CLI.tell_version_and_help(parser)
        end
      end

      def measuring(parser)
        parser.on("--scale N", Float, "multiply times or numbers of requests by N, 0.01 to 1 (1)") do |factor|
          @scale = factor
        end
        parser.on("--rounds N", OptionParser::DecimalInteger, "rounds (each study's own number)") do |number|
          @rounds = number
        end
        parser.on("--precision SHARE", "make rounds until each ratio of a claim is known to within SHARE (5%),",
                  "at most --rounds (30)") { |text| @precision = share(text) }
        parser.on("--claims", "only what decides the published claims, at the scale of the kept results") do
          @claims = true
        end
        parser.on("--budget TIME", "measure what is missing for so long, and continue the next time") do |text|
          @budget = Cuttle::Load::Units.seconds(text, "--budget")
        end
        parser.on("--seed N", OptionParser::DecimalInteger, "seed of the order (printed)") { |number| @seed = number }
      end

      def share(text)
        number = Float(text.delete_suffix("%"), exception: false)
        number /= 100 if number && text.end_with?("%")
        return number if number&.between?(0.001, 1)

        raise UsageError, "--precision: a share from 0.1% to 100%, not #{text.inspect}"
      end

      def writing(parser)
        parser.on("--directory DIR", "results (#{DIRECTORY}); report: use these, not the kept ones") do |path|
          @directory = path
        end
        parser.on("--keep", "keep the results, as cuttle study keep does") { @keep = true }
        parser.on("-o", "--output FILE", "report: file for the page (studies/report.html)") { |path| @output = path }
      end

      def list
        studies = Studies.all
        width = studies.map { |study| study.name.length }.max + 2
        studies.each { |study| @out.puts "#{study.name.ljust(width)}#{study.title}\n#{" " * width}#{study.source}" }
        0
      end

      def measure(words)
        return sitting(words).run if @budget

        studies = chosen(words)
        studies.all? { |study| told_and_kept(experiment(study, words).run(out: @err)) } ? 0 : 130
      end

      # The studies to measure, or what decides their claims. Raises UsageError.
      def chosen(words)
        raise UsageError, "--scale: 0.01 to 1, not #{@scale}" unless @scale.nil? || @scale.between?(0.01, 1)

        studies = Studies.select(words)
        whole(studies, "--keep: only whole studies can be kept") if @keep
        return studies unless @claims

        claimed = studies.map { |study| study.claimed(cores: Studies::Experiment.server_cores(study)) }
                         .select { |study| study.conditions.any? }
        raise UsageError, "--claims: there is no published claim that this machine can test" if claimed.empty?

        beside_others(claimed) if @keep
        claimed
      end

      # Called before anything is measured.
      def whole(studies, rule)
        all = Studies.all.to_h { |study| [study.name, study.entries.length] }
        part = studies.find { |study| study.entries.length < all.fetch(study.name) }
        raise UsageError, "#{rule}: #{part.name}, not a part of it" if part
      end

      # The same for studies that are reduced to their claims.
      def beside_others(studies)
        reason = studies.filter_map { |study| Studies::Archive.alone(study, Studies::Outstanding::SERIES) }.first
        raise UsageError, "--keep: #{reason}" if reason
      end

      def missing(words)
        @out.puts sitting(words.empty? ? %w[all] : words).missing
        0
      end

      def sitting(words)
        whole(Studies.select(words), "name whole studies")
        studies = chosen(words)
        outstanding = lambda do
          Studies::Outstanding.new(studies, scale: @scale, precision: @precision, directory: @directory || DIRECTORY)
        end
        Sitting.new(outstanding, budget: @budget, out: @out) { |item, seconds| sit(item, seconds) }
      end

      # Measures an Outstanding::Item for that time, and returns the Findings.
      def sit(item, seconds)
        directory = if item.directory
                      Studies::Experiment.resume(item.directory, out: @err, budget: seconds)
                    else
                      experiment(item.study, [item.study.name], scale: item.scale, budget: seconds).run(out: @err)
                    end
        told_and_kept(directory)
        Studies::Findings.new(*Studies::Experiment.read(directory))
      end

      # Returns whether the study was completed.
      def told_and_kept(directory)
        finished = tell(directory)
        documents.keep([directory]) if finished && @keep
        finished
      end

      def documents
        Documents.new(out: @out)
      end

      def experiment(study, words, scale: scale_of(study), budget: nil)
        Studies::Experiment.new(study, scale: scale, seed: @seed, rounds: @rounds, precision: @precision,
                                directory: File.join(@directory || DIRECTORY, study.name), budget: budget,
                                command: command(words, study.scale(scale)))
      end

      # The requested scale. Claims are measured as in the kept results, so that only the Ruby differs.
      def scale_of(study)
        kept = Studies::Archive.scale(study) if @claims && @scale.nil?
        kept || Studies::Scale.new(@scale || 1.0)
      end

      # The command that repeats this run. The lab adds the seed.
      def command(words, scale)
        ["cuttle", "study", *words, *("--claims" if @claims),
         *(["--scale", format("%g", scale.factor)] unless scale.full?),
         *(["--rounds", @rounds.to_s] if @rounds), *(["--precision", format("%g", @precision)] if @precision)]
      end

      def resume(words)
        raise UsageError, "--resume takes no names: they are in the results" if words.any?

        kept = File.expand_path(@resume).start_with?("#{Studies::ROOT}/")
        raise UsageError, "--resume: kept results are complete" if kept

        told_and_kept(Studies::Experiment.resume(@resume, out: @err, budget: @budget)) ? 0 : 130
      end

      def show(directories)
        raise UsageError, "show takes one directory" unless directories.length == 1

        tell(directories.first)
        0
      end

      # Returns whether the study was completed.
      def tell(directory)
        findings = Studies::Findings.new(*Studies::Experiment.read(directory))
        @out.puts Studies::Report::Text.render(findings), "", directory
        !findings.results.interrupted?
      end
    end
  end
end

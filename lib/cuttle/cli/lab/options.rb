# frozen_string_literal: true

require "json"
require "optparse"

module Cuttle
  class CLI
    class Lab
      # Reads the command line of `cuttle lab`: Cuttle::Lab::Options, and how to report the result.
      class Options
        BANNER = <<~TEXT.chomp
          Usage: cuttle lab [APP.ru] [OPTION …]
                 cuttle lab peers [--install [NAME …]]
                 cuttle lab report DIR
                 cuttle lab compare DIR DIR
          Which concurrency model is right for an app, measured: by default the built-in work app under every engine,
          alone and with 2 workers, in about two minutes. Lists are separated by commas; times are 10s, 500ms, 2m …
        TEXT
        STATUSES = "Exit status: 0 done, 1 nothing could be measured or written, 2 wrong usage, 130 interrupted."
        SIZES = %w[cpu_ms iowait_ms response_chars].freeze
        KEEP_ALIVE = { "on" => [true], "off" => [false], "both" => [false, true] }.freeze

        attr_reader :json, :help

        # Raises UsageError.
        def self.parse(arguments)
          new.tap { |options| options.parse(arguments) }
        end

        def initialize
          @lab = {}
        end

        def parse(arguments)
          rest = parser.parse(arguments)
          return if help

          raise UsageError, "one app only, not #{rest.join(" ")}" if rest.length > 1

          take_app(rest.first) if rest.any?
          @lab[:command] = ["cuttle", "lab", *without_seed(arguments)]
          resume if @lab[:resume]
        rescue OptionParser::ParseError => error
          raise UsageError, error.message
        end

        # Raises UsageError.
        def to_lab
          Cuttle::Lab::Options.new(**@lab)
        end

        private

        def take_app(path)
          raise UsageError, "APP.ru or --app, not both" if @lab.key?(:app)

          @lab[:app] = path
        end

        # The header of a lab has the seed separately.
        def without_seed(arguments)
          skip = false
          arguments.reject do |word|
            dropped = skip || word.start_with?("--seed")
            skip = word == "--seed"
            dropped
          end
        end

        # The options come from the lab that is resumed. Only the budget is given here.
        def resume
          if @lab.keys - %i[resume budget command] != []
            raise UsageError, "--resume takes no other options: they are in the results"
          end

          results = Cuttle::Lab::Results.read(@lab[:resume])
          before = self.class.new
          before.parse(results.command.drop(2))
          @lab = before.lab.merge(@lab, seed: results.seed, command: results.command)
        end

        protected

        attr_reader :lab

        private

        def parser
          OptionParser.new do |parser|
            parser.banner = BANNER
            { "The app" => :app, "Configurations: every combination of" => :configurations,
              "Loads: every one of" => :loads, "How it is measured" => :method_of, "The result" => :result }
              .each do |title, group|
                parser.separator "\n#{title}:"
                send(group, parser)
              end
            parser.separator "\n#{STATUSES}"
          end
        end

        def app(parser)
          keep(parser, :app, "--app NAME", "work (default), hello, hello-rails, forum, album, or the path of an app")
          parser.on("--profile CPU/IO/SIZE", "of the work app: milliseconds of CPU time, of waiting, and characters",
                    "(2/10/1000); more by name: 5/20/1000,cv=0.5,lock_ms=1,query=table or upstream") do |text|
            @lab[:profile] = profile(text)
          end
          keep(parser, :path, "--path PATH", "what is asked for (/)")
          keep(parser, :mix, "--mix FILE", "several requests, as for cuttle load")
        end

        def configurations(parser)
          names(parser, :engines, "--engines NAMES", "Cuttle's (all of them); none")
          names(parser, :servers, "--servers NAMES", "other servers, see cuttle lab peers; all")
          numbers(parser, :workers, "--workers N,…", "processes; 0 is one that does not fork (0,2)")
          numbers(parser, :threads, "--threads N,…", "in each process, of models that have threads (5)")
          number(parser, :slots, "--slots N", "equal slots: so many requests in the app at once, as processes,",
                 "or as threads of them")
          parser.on("--keep-alive WHICH", KEEP_ALIVE.keys,
                    "on, off or both (off: blocking models starve whom they don't hold)") do |which|
            @lab[:keep_alive] = KEEP_ALIVE.fetch(which)
          end
          parser.on("--ruby PATHS", "run servers under these Rubies (this one)") { |text| @lab[:rubies] = words(text) }
        end

        def loads(parser)
          numbers(parser, :concurrency, "--concurrency N,…", "connections in a closed loop (1,5,20)")
          parser.on("--rate R,…", "requests per second in an open loop") { |text| @lab[:rates] = rates(text) }
          parser.on("--poisson", "at random times; --rate is the mean") { @lab[:poisson] = true }
          time(parser, :timeout, "--timeout TIME", "for a response (10s)")
          time(parser, :delay, "--delay TIME", "a slow network: so long each way (none)")
          parser.on("--bandwidth RATE", "and so many octets per second, as 100k") do |text|
            @lab[:bandwidth] = Cuttle::Load::Units.octets(text, "--bandwidth")
          end
        end

        def method_of(parser)
          number(parser, :rounds, "--rounds N", "blocks; each starts every server again (what the budget allows)")
          time(parser, :duration, "-d", "--duration TIME", "of each run (1s, less where the budget asks for it)")
          time(parser, :warmup, "--warmup TIME", "before each run at most, until its rate is steady (500ms)")
          number(parser, :seed, "--seed N", "of the order, mixes and random times (printed)")
          time(parser, :budget, "--budget TIME", "what it may take altogether (2m; none with --rounds or --duration)")
          parser.on("--cpus CORES", "server:0 load:1, or server:0-2,load:3 (the last for the load)") do |text|
            @lab[:cpus] = Cuttle::Lab::Cores.parse(text.gsub(/,(?=[a-z])/, " "))
          end
          keep(parser, :resume, "--resume DIR", "go on with a lab that did not come to its end")
        end

        def result(parser)
          keep(parser, :directory, "--directory DIR", "where results go (lab-results)")
          parser.on("--json", "print the report as JSON instead of the table") { @json = true }
          parser.on("--debug", "backtraces of what goes wrong") { nil }
          CLI.tell_version(parser, "-V", "-v")
          parser.on("-h", "--help", "this") { @help = parser.help }
        end

        def keep(parser, name, *definition)
          parser.on(*definition) { |value| @lab[name] = value }
        end

        def time(parser, name, *definition)
          parser.on(*definition) { |text| @lab[name] = Cuttle::Load::Units.seconds(text, "--#{name}") }
        end

        def number(parser, name, *definition)
          parser.on(*definition, OptionParser::DecimalInteger) { |value| @lab[name] = value }
        end

        def names(parser, name, *definition)
          parser.on(*definition) { |text| @lab[name] = words(text) - %w[none] }
        end

        def numbers(parser, name, *definition)
          parser.on(*definition) do |text|
            @lab[name] = words(text).map do |word|
              Integer(word, 10, exception: false) or
                raise UsageError, "--#{name}: whole numbers, separated by commas, not #{text.inspect}"
            end.uniq
          end
        end

        def words(text)
          text.split(",").map(&:strip).reject(&:empty?).uniq
        end

        def rates(text)
          words(text).map { |word| Cuttle::Load::Units.rate(word, "--rate") }
        end

        # "5/20/1000,cv=0.5": Strings, which the app itself checks. "upstream" alone is handled by the lab.
        def profile(text)
          sizes, named = words(text).partition { |part| part != "upstream" && !part.include?("=") }
          values = sizes.first.to_s.split("/", -1)
          if sizes.length > 1 || values.length > SIZES.length || values.grep_v(/\A\d+(\.\d+)?\z/).any?
            raise UsageError, "--profile: CPU/IO/SIZE such as 5/20/1000, not #{text.inspect}"
          end

          parameters = named.to_h { |part| part == "upstream" ? [part, true] : part.split("=", 2) }
          SIZES.zip(values).to_h.compact.merge(parameters)
        end
      end
    end
  end
end

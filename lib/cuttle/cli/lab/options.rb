# frozen_string_literal: true

require "json"
require "optparse"

module Cuttle
  class CLI
    class Lab
      # Reads the command line of `cuttle lab`: the options of Cuttle::Lab::Options, and the form of the report.
      class Options
        BANNER = <<~TEXT.chomp
          Usage: cuttle lab [APP.ru] [OPTION …]
                 cuttle lab peers [--install [NAME …]]
                 cuttle lab report DIR
                 cuttle lab compare DIR DIR
          Measures which concurrency model is right for an app. By default it runs the built-in work app under every
          engine but ractors, alone and with 2 workers, in about two minutes. Separate the items of lists with commas.
          Write times as 10s or 2m.
        TEXT
        STATUSES = "Exit status: 0 done, 1 nothing could be measured or written, 2 wrong usage, 130 interrupted."
        SIZES = %w[cpu_ms iowait_ms response_chars].freeze
        KEEP_ALIVE = { "on" => [true], "off" => [false], "both" => [false, true] }.freeze

        REQUESTS = %i[path mix delay bandwidth].freeze

        attr_reader :json

        # Raises UsageError.
        def self.parse(arguments)
          new.tap { |options| options.parse(arguments) }
        end

        # The parameters of the work app in "5/20/1000,cv=0.5": Strings, that the app itself checks; "upstream" alone is
        # the lab's own. Raises UsageError, naming +option+.
        def self.profile(text, option = "--profile")
          sizes, named = text.split(",").map(&:strip).reject(&:empty?).uniq
                             .partition { |part| part != "upstream" && !part.include?("=") }
          values = sizes.first.to_s.split("/", -1)
          if sizes.length > 1 || values.length > SIZES.length || values.grep_v(/\A\d+(\.\d+)?\z/).any?
            raise UsageError, "#{option}: CPU/IO/SIZE such as 5/20/1000, not #{text.inspect}"
          end

          parameters = named.to_h { |part| part == "upstream" ? [part, true] : part.split("=", 2) }
          SIZES.zip(values).to_h.compact.merge(parameters)
        end

        # Returns what a lab's command says about its requests, because the lab's results don't contain it: a Hash with
        # String keys. It is empty for a lab that another program ran.
        def self.requests(command)
          return {} unless command.to_a.first(2) == %w[cuttle lab]

          parse(command.drop(2)).requests
        rescue UsageError
          {}
        end

        def initialize
          @lab = {}
        end

        def parse(arguments)
          rest = CLI.parse(parser, arguments)
          raise UsageError, "one app only, not #{rest.join(" ")}" if rest.length > 1

          take_app(rest.first) if rest.any?
          @lab[:command] = ["cuttle", "lab", *without_seed(arguments)]
          resume if @lab[:resume]
        end

        def requests
          Cuttle::Lab::Options::DEFAULTS.merge(@lab).slice(*REQUESTS).transform_keys(&:to_s)
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

        # A lab's header has its seed in a key of its own.
        def without_seed(arguments)
          skip = false
          arguments.reject do |word|
            dropped = skip || word.start_with?("--seed")
            skip = word == "--seed"
            dropped
          end
        end

        # Takes the options of the interrupted lab. Only the budget may differ.
        def resume
          if @lab.keys - %i[resume budget command] != []
            raise UsageError, "--resume takes no other options: they are in the results"
          end

          results = Cuttle::Lab::Results.read(@lab[:resume])
          check_command(results)
          before = self.class.new
          before.parse(results.command.drop(2))
          @lab = before.lab.merge(@lab, seed: results.seed, command: results.command)
        end

        protected

        attr_reader :lab

        private

        # The command line of another command would be read as that of a lab.
        def check_command(results)
          by = results.command.to_a.first(2)
          return if by == %w[cuttle lab]

          raise UsageError, "--resume: #{@lab[:resume]} is not a lab, but belongs to #{by.join(" ")}"
        end

        def parser
          OptionParser.new do |parser|
            parser.banner = BANNER
            { "App" => :app, "Configurations (every combination of these)" => :configurations,
              "Loads (each of these)" => :loads, "Measurement" => :method_of, "Results" => :result }
              .each do |title, group|
                parser.separator "\n#{title}:"
                send(group, parser)
              end
            parser.separator "\n#{STATUSES}"
          end
        end

        def app(parser)
          keep(parser, :app, "--app NAME", "work (default), hello, hello-rails, forum, album, or a path")
          parser.on("--profile CPU/IO/SIZE", "for the work app: ms of CPU time, ms of waiting, octets of the body",
                    "(2/10/1000); other parameters by name: 5/20/1000,cv=0.5,lock_ms=1") do |text|
            @lab[:profile] = self.class.profile(text)
          end
          keep(parser, :path, "--path PATH", "path of the requests (/)")
          keep(parser, :mix, "--mix FILE", "several requests, as for cuttle load")
        end

        def configurations(parser)
          names(parser, :engines, "--engines NAMES", "Cuttle's engines; none; or all, with ractors and hybrid-auto",
                "(all without these two)")
          names(parser, :servers, "--servers NAMES", "other servers (see cuttle lab peers), or all (none)")
          numbers(parser, :workers, "--workers N,…", "worker processes; 0: one process that does not fork (0,2)")
          numbers(parser, :threads, "--threads N,…", "threads in each process, if the model has threads (5)")
          number(parser, :slots, "--slots N", "give every configuration N slots (requests in the app at once),",
                 "as threads or as processes")
          parser.on("--keep-alive WHICH", KEEP_ALIVE.keys,
                    "on, off or both (off)") do |which|
            @lab[:keep_alive] = KEEP_ALIVE.fetch(which)
          end
          parser.on("--ruby PATHS", "run servers under these Rubies (this one)") { |text| @lab[:rubies] = words(text) }
        end

        def loads(parser)
          numbers(parser, :concurrency, "--concurrency N,…", "connections in a closed loop")
          parser.on("--rate R,…", "requests per second in an open loop; 60%: of what the control serves",
                    "(without --concurrency and --rate: 20 connections, then 60% at random times)") do |text|
            rates(text)
          end
          parser.on("--poisson", "send at random times; --rate is the mean") { @lab[:poisson] = true }
          time(parser, :timeout, "--timeout TIME", "limit for a response (10s)")
          time(parser, :delay, "--delay TIME", "delay of a slow network, each way (none)")
          parser.on("--bandwidth RATE", "octets per second of a slow network: 100k (none)") do |text|
            @lab[:bandwidth] = Cuttle::Load::Units.octets(text, "--bandwidth")
          end
        end

        def method_of(parser)
          number(parser, :rounds, "--rounds N", "rounds; each starts every server again (as the budget allows)")
          time(parser, :duration, "-d", "--duration TIME", "length of each run (1s, or less to stay within the budget)")
          time(parser, :warmup, "--warmup TIME", "limit for the warm-up of a run (500ms; 10s while it gets faster)")
          number(parser, :seed, "--seed N", "seed of the order, mixes and random times (printed)")
          time(parser, :budget, "--budget TIME", "limit for the whole lab (2m; none with --rounds or --duration)")
          parser.on("--cpus CORES", "server:0-2,load:3 (the last core for the load)") do |text|
            @lab[:cpus] = Cuttle::Lab::Machine::Cores.parse(text.gsub(/,(?=[a-z])/, " "))
          end
          keep(parser, :resume, "--resume DIR", "continue an interrupted lab")
        end

        def result(parser)
          keep(parser, :directory, "--directory DIR", "directory for results (lab-results)")
          parser.on("--json", "print the report as JSON instead of the table") { @json = true }
          parser.on("--debug", "print backtraces of errors") { nil }
          CLI.tell_version_and_help(parser)
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
          shares, rates = words(text).partition { |word| word.end_with?("%") }
          @lab[:rates] = rates.map { |word| Cuttle::Load::Units.rate(word, "--rate") }
          @lab[:shares] = shares.map { |word| share(word) }
        end

        def share(word)
          percent = Float(word.delete_suffix("%"), exception: false)
          return percent / 100 if percent

          raise UsageError, "--rate: requests per second, or a share such as 60%, not #{word}"
        end
      end
    end
  end
end

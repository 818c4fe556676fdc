# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    class Load
      # Reads the command line of `cuttle load`: the options of Load::Plan, and what to do with the result.
      class Options
        BANNER = <<~TEXT.chomp
          Usage: cuttle load URL [OPTION …]
                 cuttle load compare A.json B.json
                 cuttle load self-test
          URL is http://…, https://… or unix:///path/of/socket:/path. Times are 10s, 500ms, 2m …
        TEXT
        STATUSES = "Exit status: 0 done, 1 nothing could be measured, 2 wrong usage, 3 an assertion failed, " \
                   "130 interrupted."

        attr_reader :url, :plan, :files, :assertions, :agents, :listen, :token, :quiet, :help

        # Raises UsageError.
        def self.parse(arguments)
          new.tap { |options| options.parse(arguments) }
        end

        def initialize
          @plan = { headers: [] }
          @files = {}
          @agents = []
          @token = ENV["CUTTLE_LOAD_TOKEN"]
        end

        def parse(arguments)
          rest = parser.parse(arguments)
          return if help

          @url = rest.shift
          raise UsageError, "one URL only, not #{rest.join(" ")}" if rest.any?
          raise UsageError, "a URL is missing" unless url || listen
          raise UsageError, "--agent takes no URL: the one who calls it says where to" if url && listen
        rescue OptionParser::ParseError => error
          raise UsageError, error.message
        end

        private

        def parser
          OptionParser.new do |parser|
            parser.banner = BANNER
            groups(parser)
            parser.separator "\n#{STATUSES}"
          end
        end

        def groups(parser)
          { "How much, in a closed loop (a connection's next request follows its last response)" => :closed,
            "How much, in an open loop (requests are sent at their times, whatever the server does)" => :open,
            "How long" => :length, "The requests" => :requests, "The connections" => :connections,
            "The result" => :results, "Several generators as one" => :machines }.each do |title, group|
            parser.separator "\n#{title}:"
            send(group, parser)
          end
        end

        def closed(parser)
          count(parser, :connections, "-c", "--connections N", "10; in an open loop the most there may be (1000)")
          time(parser, :think, "--think TIME", "pause between a response and the next request (none)")
          count(parser, :pipeline, "--pipeline N", "requests at once on a connection (1)")
        end

        def open(parser)
          keep(parser, :rate, "-r", "--rate R", "R requests per second, evenly spaced")
          keep(parser, :steps, "--steps R,R,…:TIME", "each rate for TIME, as 100,200,400:10s")
          keep(parser, :ramp, "--ramp R..R:TIME", "from one rate to the other, as 0..1000:60s")
          keep(parser, :trace, "--trace FILE", "at the times in FILE: seconds, a line each")
          parser.on("--poisson", "at random times: --rate, --steps or --ramp is the mean") { @plan[:poisson] = true }
        end

        def length(parser)
          time(parser, :duration, "-d", "--duration TIME", "10s; of --steps, --ramp and --trace their own")
          count(parser, :requests, "-n", "--requests N", "until N requests are sent")
          time(parser, :warmup, "--warmup TIME", "before measuring begins (none)")
          time(parser, :timeout, "--timeout TIME", "for a response, from its request's intended time (10s)")
          count(parser, :threads, "-t", "--threads N", "native threads (half of the processors, at most 4)")
        end

        def requests(parser)
          keep(parser, :method, "-X", "--method NAME", "GET; POST where there is a body")
          parser.on("-H", "--header 'NAME: VALUE'", "may be given again") { |text| @plan[:headers] << header(text) }
          keep(parser, :body, "--body TEXT")
          parser.on("--body-file FILE") { |path| @plan[:body] = read(path, "--body-file") }
          count(parser, :expect, "--expect STATUS", "the right status (any below 400)")
          keep(parser, :mix, "--mix FILE", "several requests, a JSON object a line: method, path,",
               "headers, body or body_file, status, weight")
          keep(parser, :har, "--har FILE", "the requests a browser saved, in their order")
          count(parser, :seed, "--seed N", "another seed, another sequence of a mix and of --poisson (1)")
        end

        def connections(parser)
          parser.on("--no-keepalive", "a connection for each request") { @plan[:keep_alive] = false }
          parser.on("--slow-read RATE", "take responses at RATE octets per second, as 16k") do |text|
            @plan[:slow_read] = Cuttle::Load::Units.octets(text, "--slow-read")
          end
          parser.on("-k", "--insecure", "don't check the certificate") { @plan[:insecure] = true }
          keep(parser, :authorities, "--cacert FILE", "certificate authorities to trust, PEM")
        end

        def results(parser)
          { json: "everything, with the raw histograms of each second", hgrm: "percentiles as HdrHistogram writes them",
            csv: "a line for each second", ab: "laid out as ab's report" }.each do |name, text|
            parser.on("--#{name} FILE", "#{text}; - is standard output") { |path| @files[name] = path }
          end
          parser.on("--assert TEXT", "'p99<50ms, errors=0, rate>1000': exit status 3 where that is not so") do |text|
            @assertions = Cuttle::Load::Assertions.new(text)
          end
          parser.on("-q", "--quiet", "nothing while it runs") { @quiet = true }
          parser.on("--debug", "backtraces of what goes wrong") { nil }
          CLI.tell_version(parser, "-V", "-v")
          parser.on("-h", "--help", "this") { @help = parser.help }
        end

        def machines(parser)
          parser.on("--agent [HOST:]PORT", "be a generator that others use") { |text| @listen = text }
          parser.on("--agents HOST:PORT,…", "use those instead of this process") { |text| @agents = text.split(",") }
          parser.on("--token-file FILE", "the secret that both must know; or CUTTLE_LOAD_TOKEN") do |path|
            @token = read(path, "--token-file").strip
          end
        end

        def keep(parser, name, *definition)
          parser.on(*definition) { |value| @plan[name] = value }
        end

        def time(parser, name, *definition)
          parser.on(*definition) { |text| @plan[name] = Cuttle::Load::Units.seconds(text, "--#{name}") }
        end

        def count(parser, name, *definition)
          parser.on(*definition, OptionParser::DecimalInteger) { |value| @plan[name] = value }
        end

        def header(text)
          name, value = text.split(":", 2)
          raise UsageError, "--header: 'Name: value', not #{text.inspect}" unless value

          [name.strip, value.strip]
        end

        def read(path, option)
          File.binread(path)
        rescue SystemCallError => error
          raise UsageError, "#{option}: #{path}: #{Cuttle::Load.reason(error)}"
        end
      end
    end
  end
end

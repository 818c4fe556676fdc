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
          URL is http://…, https://… or unix:///path/of/socket:/path. Write times as 10s, 500ms, 2m.
        TEXT
        STATUSES = "Exit status: 0 done, 1 nothing could be measured (or written), 2 wrong usage, " \
                   "3 an assertion failed, 130 interrupted."

        attr_reader :url, :plan, :files, :assertions, :agents, :listen, :token, :quiet

        # Raises UsageError.
        def self.parse(arguments)
          new.tap { |options| options.parse(arguments) }
        end

        # ["Name", "value"]. Raises UsageError.
        def self.header(text)
          name, value = text.split(":", 2)
          raise UsageError, "--header: 'Name: value', not #{text.inspect}" unless value

          [name.strip, value.strip]
        end

        def initialize
          @plan = { headers: [], check: [] }
          @files = {}
          @assertions = []
          @token = ENV["CUTTLE_LOAD_TOKEN"]
        end

        def parse(arguments)
          rest = CLI.parse(parser, arguments.map { |text| utf8(text) })
          @url = rest.shift
          raise UsageError, "one URL only, not #{rest.join(" ")}" if rest.any?
          raise UsageError, "a URL is missing" unless url || listen
          raise UsageError, "--agent takes no URL: the caller names it" if url && listen
        end

        private

        # In the locale C, Ruby takes arguments for octets.
        def utf8(text)
          text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
          text.valid_encoding? ? text : raise(UsageError, "not #{text.encoding}: #{text.inspect}")
        end

        def parser
          OptionParser.new do |parser|
            parser.banner = BANNER
            groups(parser)
            parser.separator "\n#{STATUSES}"
          end
        end

        def groups(parser)
          { "Closed loop (a connection sends its next request after the last response)" => :closed,
            "Open loop (requests are sent at their intended times, whatever the server does)" => :open,
            "Length" => :length, "Requests" => :requests, "Connections" => :connections,
            "Results" => :results, "Several generators" => :machines }.each do |title, group|
            parser.separator "\n#{title}:"
            send(group, parser)
          end
        end

        def closed(parser)
          count(parser, :connections, "-c", "--connections N", "connections (10); in an open loop, the maximum (1000)")
          time(parser, :think, "--think TIME", "pause between a response and the next request (none)")
          count(parser, :pipeline, "--pipeline N", "requests at once on a connection (1)")
        end

        def open(parser)
          keep(parser, :rate, "-r", "--rate R", "send R requests per second, evenly spaced")
          keep(parser, :steps, "--steps R,R,…:TIME", "send at each rate for TIME: 100,200,400:10s")
          keep(parser, :ramp, "--ramp R..R:TIME", "raise or lower the rate steadily: 0..1000:60s")
          keep(parser, :trace, "--trace FILE", "send at the times in FILE: seconds, one per line")
          parser.on("--poisson", "send at random times; the rate is the mean") { @plan[:poisson] = true }
        end

        def length(parser)
          time(parser, :duration, "-d", "--duration TIME", "length (10s, or that of --steps, --ramp or --trace)")
          count(parser, :requests, "-n", "--requests N", "end the run after N requests")
          time(parser, :warmup, "--warmup TIME", "run the load without measuring first (none)")
          time(parser, :timeout, "--timeout TIME", "limit for a response, from the intended time of its request (10s)")
          count(parser, :threads, "-t", "--threads N", "native threads (half of the processors, at most 4)")
        end

        def requests(parser)
          keep(parser, :method, "-X", "--method NAME", "method (GET; POST if there is a body)")
          parser.on("-H", "--header 'NAME: VALUE'", "add a field; may be repeated") do |text|
            @plan[:headers] << self.class.header(text)
          end
          keep(parser, :body, "--body TEXT", "body of the request")
          parser.on("--body-file FILE", "file with the body") { |path| @plan[:body] = read(path, "--body-file") }
          count(parser, :expect, "--expect STATUS", "expected status (any below 400)")
          keep(parser, :mix, "--mix FILE", "several requests, one JSON object per line: method, path,",
               "headers, body or body_file, status, weight, name, check, take")
          keep(parser, :har, "--har FILE", "the requests that a browser saved, in their order")
          parser.on("--check TEXT", "what each body must have: a text or /a regular expression/;",
                    "may be repeated") do |text|
            @plan[:check] << text
          end
          sessions(parser)
          count(parser, :seed, "--seed N", "seed of the order of a mix and of --poisson (1)")
        end

        def sessions(parser)
          parser.on("--cookies", "keep cookies, separately for each connection") { @plan[:cookies] = true }
          count(parser, :follow, "--follow N", "follow up to N redirects to the same server (0)")
          parser.on("--in-order", "send a mix in its order, on each connection") { @plan[:in_order] = true }
        end

        def connections(parser)
          parser.on("--no-keepalive", "open a connection for each request") { @plan[:keep_alive] = false }
          parser.on("--slow-read RATE", "read responses at RATE octets per second: 16k") do |text|
            @plan[:slow_read] = Cuttle::Load::Units.octets(text, "--slow-read")
          end
          parser.on("-k", "--insecure", "do not check the certificate") { @plan[:insecure] = true }
          keep(parser, :authorities, "--cacert FILE", "certificate authorities to trust, PEM")
        end

        def results(parser)
          { json: "everything, with the histograms of each second", html: "one page with charts",
            hgrm: "percentiles in HdrHistogram's format", csv: "one line per second",
            ab: "in the layout of ab's report", prometheus: "in Prometheus' text format" }.each do |name, text|
            parser.on("--#{name} FILE", "#{text}; - is standard output") { |path| @files[name] = path }
          end
          parser.on("--assert TEXT", "conditions, such as 'p99<50ms, errors=0': exit status 3 if one fails;",
                    "may be repeated") do |text|
            @assertions << Cuttle::Load::Assertions.new(text)
          end
          parser.on("-q", "--quiet", "print nothing during the run") { @quiet = true }
          parser.on("--debug", "print backtraces of errors") { nil }
          CLI.tell_version_and_help(parser)
        end

        def machines(parser)
          parser.on("--agent [HOST:]PORT", "generate load for a caller on another machine") { |text| @listen = text }
          parser.on("--agents HOST:PORT,…", "let these agents generate the load") { |text| @agents = text.split(",") }
          parser.on("--token-file FILE", "file with the secret of caller and agents; or CUTTLE_LOAD_TOKEN") do |path|
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

        def read(path, option)
          File.binread(path)
        rescue SystemCallError => error
          raise UsageError, "#{option}: #{path}: #{Cuttle::Load.reason(error)}"
        end
      end
    end
  end
end

# frozen_string_literal: true

require "optparse"
require "cuttle/cli/lab"

module Cuttle
  class CLI
    class Tune
      # Reads the command line of `cuttle tune`: the options of Tuner::Options, and the form of the answer.
      class Options
        BANNER = <<~TEXT.chomp
          Usage: cuttle tune [APP.ru] [OPTION …]
                 cuttle tune --what-if workers=4,threads=3,cores=4 [--profile FILE]
                 cuttle tune check [APP.ru] [--worse 10%] [OPTION …]
                 cuttle tune show DIR [--json] [--write]
                 cuttle tune --resume DIR [--budget TIME]
          Finds the engine, the number of workers and the number of threads for an app. It profiles the app, forecasts
          every setting, verifies the best ones beside what you have, and says what they cost. Write times as 10s or 2m.
        TEXT
        STATUSES = "Exit status: 0 done, 1 nothing could be measured or no setting keeps the limits, 2 wrong usage,\n" \
                   "3 check: the present setting is worse, 130 interrupted."
        RACKUP = "config.ru"
        WORSE = 0.1
        OF_QUESTIONS = %i[command app kept directory verify].freeze # the options that --what-if allows

        attr_reader :json, :write, :questions, :resume, :worse

        # Raises UsageError.
        def self.parse(arguments, command: %w[cuttle tune])
          new(command).tap { |options| options.parse(arguments) }
        end

        def initialize(command)
          @command = command
          @tune = {}
          @limits = {}
          @questions = []
          @requests = Requests.new
          @worse = WORSE
        end

        def parse(arguments)
          rest = CLI.parse(parser, arguments)
          raise UsageError, "one app only, not #{rest.join(" ")}" if rest.length > 1

          take_app(rest.first) if rest.any?
          own = take_own_app unless resume || %i[app work].any? { |name| @tune.key?(name) }
          @tune[:command] = [*@command, *own, *arguments]
          check_resume if @resume
          check_questions if questions.any?
        end

        # The Tuner::Options, with the setting that the app has now. Raises UsageError and Error.
        def to_tuner
          profile = Tuner::Profile.read(kept) if kept # fails before anything is made or measured
          Cuttle::Lab::Apps.find(app_name, profile: @tune.fetch(:work, {})) # and so does work of another app
          requests = @requests.read(app_name, @tune[:path])
          options = Tuner::Options.new(**@tune, mix: @requests.mix, requests: requests, limits: limits)
          cores = limits.cores || Tuner::Elsewhere.server_cores(options, profile)
          options.with(command: [*options.command, *(["--seed", options.seed.to_s] unless @tune[:seed])],
                       **present.to_h(cores))
        end

        def limits
          Tuner::Limits.new(**@limits)
        end

        # Seconds, or nil if they were not given.
        def budget
          @tune[:budget]
        end

        # Path of a kept profile, or nil.
        def kept
          @tune[:kept]
        end

        def engines
          @tune[:engines]
        end

        def directory
          @tune.fetch(:directory, Tuner::Options::DEFAULTS[:directory])
        end

        # The app's present setting. Raises Error.
        def present
          @present ||= Present.new(app_name)
        end

        # Raises Error before anything is measured if no answer could be written.
        def refuse_to_write
          return unless write

          path, setting = to_write
          reason = Tuner::Edit.new(Present.writable(path)).refusal(setting)
          raise Error, "--write: #{reason}" if reason
        end

        private

        # The configuration file, or nil, and the present setting: of this tune, or of the one to resume.
        def to_write
          return [present.configuration, present.setting] unless resume

          kept = Tuner::Folder.new(resume).options
          [kept.configuration, kept.present]
        end

        def take_app(path)
          raise UsageError, "APP.ru or --app, not both" if @tune.key?(:app)

          @tune[:app] = found(path)
        end

        # The app of this directory, as for `cuttle serve`. Returns its name, for the command that repeats the tune, or
        # nil.
        def take_own_app
          return unless File.file?(RACKUP)

          @tune[:app] = File.expand_path(RACKUP)
          RACKUP
        end

        # A relative path would mean another file in another directory. Raises UsageError if the app doesn't exist.
        def found(app)
          Cuttle::Lab::Apps.find(app)
          Cuttle::Lab::Apps::NAMES.key?(app) ? app : File.expand_path(app)
        end

        # Name or path.
        def app_name
          @tune.fetch(:app, Tuner::Options::DEFAULTS[:app])
        end

        def check_resume
          others = @tune.keys - %i[command budget]
          return if others.empty? && @limits.empty? && @requests.given.empty?

          raise UsageError, "--resume takes no other options but --budget, --json and --write: they are in the results"
        end

        # Questions are answered from a kept profile.
        def check_questions
          unused = [*@requests.given, *@tune.keys, *(:write if write), *(:resume if resume)] - OF_QUESTIONS
          return if unused.empty?

          raise UsageError, "--what-if measures and writes nothing: leave out --#{unused.first}"
        end

        def parser
          OptionParser.new do |parser|
            parser.banner = BANNER
            { "App" => :app, "Limits (the answer keeps them)" => :limits_of, "Questions" => :questions_of,
              "Measurement" => :method_of, "Results" => :result }.each do |title, group|
              parser.separator "\n#{title}:"
              send(group, parser)
            end
            parser.separator "\n#{STATUSES}"
          end
        end

        def app(parser)
          parser.on("--app NAME", "work, hello, hello-rails, forum, album, or a path",
                    "(config.ru in this directory; work if there is none)") do |name|
            @tune[:app] = found(name)
          end
          parser.on("--work CPU/IO/SIZE", "for the work app: ms of CPU time, ms of waiting, octets") do |text|
            @tune[:work] = Lab::Options.profile(text, "--work")
          end
          keep(parser, :path, "--path PATH", "path of the requests (/)")
          @requests.add(parser)
        end

        def limits_of(parser)
          octets(parser, :memory, "--memory SIZE", "memory of all processes together: 512M, 2G")
          number(parser, :cores, "--cores N", "cores that the server may use (those that the lab gives it here)")
          number(parser, :connections, "--db-connections N", "database connections of all processes together")
          parser.on("--rate R", "requests per second to serve (70% of the best capacity)") do |text|
            @limits[:rate] = Cuttle::Load::Units.rate(text, "--rate")
          end
          time(parser, :p99, "--p99 TIME", "response time of 99 of 100 requests at that rate")
          time(parser, :queue_p99, "--queue-p99 TIME", "how long 99 of 100 requests wait for a thread at that rate")
        end

        def questions_of(parser)
          parser.on("--what-if KEY=VALUE,…", "forecast a setting without measuring; may be repeated. Keys:",
                    Tuner::Question::KEYS.join(", ")) { |text| @questions << text }
          parser.on("--profile FILE", "use this profile (profile.json of a tune) instead of a new one") do |path|
            @tune[:kept] = File.expand_path(path)
          end
          parser.on("--worse SHARE", "check: how much worse the present setting may be (10%)") do |text|
            @worse = share(text)
          end
        end

        def method_of(parser)
          parser.on("--engines NAMES", "engines to choose from (all but ractors)") do |text|
            @tune[:engines] = text.split(",").map(&:strip).reject(&:empty?)
          end
          parser.on("--budget TIME", "limit for the whole tune (5m)") do |text|
            @tune[:budget] = Cuttle::Load::Units.seconds(text, "--budget")
          end
          parser.on("--rounds N", OptionParser::DecimalInteger, "verification rounds (as the budget allows)") do |count|
            @tune[:rounds] = count
          end
          parser.on("-d", "--duration TIME", "length of each verification run (as the budget allows)") do |text|
            @tune[:duration] = Cuttle::Load::Units.seconds(text, "--duration")
          end
          parser.on("--no-verify", "skip the verification, and answer with predictions") { @tune[:verify] = false }
          parser.on("--seed N", OptionParser::DecimalInteger, "seed of the order, mixes and random times") do |number|
            @tune[:seed] = number
          end
          parser.on("--cpus CORES", "server:0-2,load:3 (the last core for the load)") do |text|
            @tune[:cpus] = Cuttle::Lab::Machine::Cores.parse(text.gsub(/,(?=[a-z])/, " "))
          end
          parser.on("--resume DIR", "continue an interrupted tune") { |path| @resume = path }
        end

        def result(parser)
          keep(parser, :directory, "--directory DIR", "directory for results (tune-results)")
          parser.on("--write", "write the answer into config/cuttle.rb") { @write = true }
          parser.on("--json", "print the answer as JSON") { @json = true }
          parser.on("--debug", "print backtraces of errors") { nil }
          CLI.tell_version_and_help(parser)
        end

        def keep(parser, name, *definition)
          parser.on(*definition) { |value| @tune[name] = value }
        end

        def number(parser, name, *definition)
          parser.on(*definition, OptionParser::DecimalInteger) { |value| @limits[name] = value }
        end

        def octets(parser, name, *definition)
          parser.on(*definition) { |text| @limits[name] = Cuttle::Load::Units.octets(text, "--#{name}") }
        end

        def time(parser, name, *definition)
          parser.on(*definition) do |text|
            @limits[name] = Cuttle::Load::Units.seconds(text, "--#{name.to_s.tr("_", "-")}")
          end
        end

        # "10%" or "0.1"
        def share(text)
          number = Float(text.delete_suffix("%"), exception: false)
          number /= 100 if number && text.end_with?("%")
          return number if number && number.between?(0, 1)

          raise UsageError, "--worse: a share such as 10%, not #{text.inspect}"
        end
      end
    end
  end
end

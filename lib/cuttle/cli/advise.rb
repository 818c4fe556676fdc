# frozen_string_literal: true

require "json"
require "optparse"
require "stringio"
require "tmpdir"
require "cuttle/cli/tune"
require "cuttle/cli/top"
require "cuttle/cli/running_server"

module Cuttle
  class CLI
    # `cuttle advise`: the answer of `cuttle tune` for a running server, from what the server counts of its requests.
    # The answer is for the server's own engine, because nothing is known of others. It makes no load. Exit status 0:
    # done; 1: no setting keeps the limits, the server does not run, or has too few requests; 2: wrong usage.
    class Advise
      WATCH = 60 # seconds
      PLACE = "the running server"
      ASSUMED = "hybrid"
      UNNAMED = "the server is older and doesn't report its engine; #{ASSUMED} is assumed (--engine)".freeze
      UNSAID = "the server is older and doesn't report -t auto; its limit of threads counts as its number of threads"
      OBSERVED = "the target rate is the one that was observed: if more requests come at other times, give their " \
                 "rate with --rate"
      LATE = "%d of %d workers did not serve all the time, and their requests are not counted: watch again, or give " \
             "--rate"
      STUCK = "workers answered nothing, although all of their threads are busy (pid %s): requests that hang are not " \
              "counted"
      # Database connections, if they are limited. They can't be seen. A thread of Active Record holds at most one
      # connection to each database.
      HELD = { "process" => 0, "thread" => 1 }.freeze
      BANNER = <<~TEXT.chomp
        Usage: cuttle advise [OPTION …]
        Watches a running server for a minute, and says how many workers and how many threads its requests need. It
        makes no load, so it knows less than cuttle tune: it can't judge other engines, and it lists what else it can't
        see. The server must run on this machine, with --control-url.
      TEXT

      def initialize(out:, err:)
        @out = out
        @err = err
        @running = RunningServer.new
        @watch = WATCH
        @limits = {}
      end

      # Returns the exit status. Raises UsageError and Error.
      def run(arguments)
        extra = CLI.parse(options, arguments)
        raise UsageError, "advise takes options only, not #{extra.join(" ")}" if extra.any?

        @command = ["cuttle", "advise", *arguments.map { |word| without_token(word) }]
        # Raise for wrong usage, before it watches.
        Engines.traits(@engine) if @engine
        Tuner::Limits.new(**@limits)
        answer(*watch)
      end

      private

      # The command line is printed. The token gives command of the server, so it is not.
      def without_token(word)
        token = @running.given[:token].to_s
        token.empty? ? word : word.sub(token, "TOKEN")
      end

      # The last and the first sample, and the CPU seconds of the server's processes between them, or nil.
      def watch
        before = look
        settle_engine(before.engine)
        cpu = cpu_of(before)
        @err.puts "watching #{Cuttle::Load::Units.duration(@watch)}; Ctrl-C ends it early"
        pause
        now = look
        [now, before, (cpu_of(now).values.sum - cpu.values.sum if comparable?(now, before, cpu))]
      end

      # Whether there were the same processes all the time, and no worker that started: it takes CPU time to load the
      # app.
      def comparable?(now, before, cpu)
        now.memory.keys.sort == before.memory.keys.sort && cpu.values.all?(&:positive?) &&
          before.rows(before).none? { |row| row.state == "starts" }
      end

      def pause
        sleep(@watch)
      rescue Interrupt
        nil
      end

      def look
        server = @running.find or raise Error, @running.missing
        raise Error, "advise needs a control listener: serve with --control-url" unless server.is_a?(Control::Client)

        Top::Sample.new(JSON.parse(server.call("top")))
      rescue JSON::ParserError
        raise Error, "#{server} is not a control listener of this version"
      end

      # reported: the server's engine, nil if the server is older. Raises UsageError if another one was named, and Error
      # if there is no advice for it.
      def settle_engine(reported)
        if @engine && reported && @engine != reported
          raise UsageError, "--engine #{@engine}: the server's engine is #{reported}"
        end

        @err.puts UNNAMED unless @engine || reported
        @engine ||= reported || ASSUMED
        traits = Engines.traits(@engine)
        raise Error, Tuner::Production.uncounted(@engine) if traits.fibers? || traits.ractors?
      end

      # By pid. Zero for processes that are not on this machine.
      def cpu_of(sample)
        sample.memory.to_h { |pid, _| [pid, Cuttle::Lab::Servers::ProcessTree.cpu_seconds(pid)] }
      end

      def answer(now, before, cpu)
        workers = now.rows(before).select { |row| %w[serves starts].include?(row.state) }
        rows = workers.select(&:ledger)
        raise Error, "no worker served all the time" if rows.empty?

        number = now.cluster? ? workers.length : 0
        profile = profile(rows, number, memory(workers, now), cpu, environment(now))
        rate = rows.sum { |row| row.ledger[:app][:count] } / rows.first.seconds
        @err.puts format("%.1f requests per second", rate)
        advise(profile.with(notes: [*profile.notes, *missed(workers)]), present(rows, number), rate)
      end

      # What the figures lack: sentences.
      def missed(workers)
        late = workers.count { |row| row.ledger.nil? }
        stuck = workers.select { |row| stuck?(row) }.map(&:pid)
        of_rate = [OBSERVED, *(format(LATE, late, workers.length) if late.positive?)] unless @limits[:rate]
        [*of_rate, *(format(STUCK, stuck.join(", ")) if stuck.any?)]
      end

      def stuck?(row)
        row.ledger && row.ledger.dig(:app, :count).to_i.zero? && row.busy.to_i.positive? && row.busy >= row.running.to_i
      end

      # Octets of the processes that serve, and of all others together.
      def memory(workers, now)
        serving = workers.filter_map(&:memory)
        { workers: serving, others: now.memory.values.compact.sum - serving.sum }
      end

      def profile(rows, workers, memory, cpu, environment)
        Tuner::Profile.from_ledger(Ledger.merge(rows.map(&:ledger)), engine: @engine, workers: workers, memory: memory,
                                                                     cpu: cpu, command: @command,
                                                                     app: { "name" => PLACE },
                                                                     connections: (HELD if @limits[:connections]),
                                                                     environment: environment)
      end

      # The server may run on another Ruby than this command.
      def environment(now)
        cores = Cuttle::Lab::Machine::Cores
        ruby = now.stats.dig("versions", "ruby", "version")
        Cuttle::Lab::Machine.facts(cores.new).merge("server_cores" => cores.usable, "server_ruby" => ruby)
      end

      def present(rows, workers)
        Tuner::Setting.new(engine: @engine, workers: workers, **threads(rows))
      end

      # The threads of each process, and the limit that goes with auto.
      def threads(rows)
        most = rows.filter_map(&:threads).max || Tune::Present::MANY # without a limit: a thread for each connection
        auto = rows.filter_map(&:auto).max
        @err.puts UNSAID if auto.nil? && Engines.traits(@engine).adaptive?
        return { threads: most } unless auto == 1

        { threads: Tuner::Setting::AUTO, max_threads: most }
      end

      # Runs a tune that has its profile already and verifies nothing.
      def advise(profile, present, rate)
        Dir.mktmpdir("cuttle-advise") do |directory|
          kept = profile.write(File.join(directory, "profile.json"))
          limits = Tuner::Limits.new(rate: rate, **@limits)
          options = Tuner::Options.new(kept: kept, verify: false, present: present, place: PLACE, limits: limits,
                                       engines: [@engine], directory: directory, command: @command)
          advice = Tuner::Session.new(Tuner::Folder.create(options), out: StringIO.new).run
          @json ? @out.puts(JSON.generate(advice.to_h)) : @out.print(Tuner::Report.text(advice))
          advice.kind == :none ? 1 : 0
        end
      end

      def options
        OptionParser.new do |parser|
          parser.banner = BANNER
          @running.add(parser)
          parser.separator "\nLimits (the answer keeps them):"
          limits_of(parser)
          parser.separator "\nOther:"
          parser.on("--for TIME", "how long to watch (60s)") do |text|
            @watch = Cuttle::Load::Units.seconds(text, "--for")
          end
          parser.on("--engine NAME", "the engine of an older server, which doesn't report it (#{ASSUMED})") do |name|
            @engine = name
          end
          parser.on("--json", "print the answer as JSON") { @json = true }
          CLI.tell_version_and_help(parser)
        end
      end

      def limits_of(parser)
        units = Cuttle::Load::Units
        parser.on("--memory SIZE", "memory of all processes together: 512M, 2G") do |text|
          @limits[:memory] = units.octets(text, "--memory")
        end
        parser.on("--cores N", OptionParser::DecimalInteger, "cores for the server") { |n| @limits[:cores] = n }
        parser.on("--db-connections N", OptionParser::DecimalInteger, "database connections: one per thread") do |n|
          @limits[:connections] = n
        end
        parser.on("--rate R", "target requests per second (the observed rate)") do |text|
          @limits[:rate] = units.rate(text, "--rate")
        end
        parser.on("--p99 TIME", "response time of 99 of 100 requests at that rate") do |text|
          @limits[:p99] = units.seconds(text, "--p99")
        end
        parser.on("--queue-p99 TIME", "how long 99 of 100 requests wait for a thread at that rate") do |text|
          @limits[:queue_p99] = units.seconds(text, "--queue-p99")
        end
      end
    end
  end
end

# frozen_string_literal: true

require "tmpdir"

module Cuttle
  module Lab
    module Testers
      # Runs a program that loads a server, in place of a Load::Generator: it takes the same options, and has `run` and
      # `interrupt`. Its results have the program's own resolution.
      #
      # It runs on this process's cores, which are the load's (Machine::Cores#pin_self). A program is a class with
      #   PROGRAM, PACKAGE      its name, and the name of its Debian package
      #   .read(text)           parses a report into the arguments of Result; nil if +text+ has none
      #   #command              the command line
      # and may have
      #   .any_request?         true: it sends a given method, headers and body, not only plain GETs
      #   #variables            environment variables
      #   #threads              number of its threads on the load's cores
      class Tester
        MOST = 600 # most seconds of a run

        class << self
          # Why it can't run here and what to do, or nil.
          def unavailable
            "#{self::PROGRAM} is not installed: apt-get install #{self::PACKAGE}" unless Machine.program(self::PROGRAM)
          end

          def any_request? = false
        end

        # requests: their number. If it is nil, or if the program can't take a number: duration, in seconds. Other
        # options of Load don't apply to these programs. Raises Failure for options that the program does not support.
        def initialize(url, connections:, duration:, requests: nil, keep_alive: false, threads: 1, timeout: 10,
                       method: nil, headers: [], body: nil, rate: nil, mix: nil, **_others)
          raise Failure, "#{program} can't send requests at a rate, or from a mix: use cuttle load" if rate || mix
          if (method || body || headers.any?) && !self.class.any_request?
            raise Failure, "#{program} sends plain GETs only: use wrk or cuttle load"
          end

          @method = method || ("POST" if body)
          @headers = headers
          @body = body
          @url = url
          @connections = connections
          @duration = duration
          @requests = requests
          @keep_alive = keep_alive
          @threads = threads
          @timeout = timeout
          @interrupted = false
        end

        # Runs the program and returns a Result. Raises Failure with the program's last line.
        def run
          raise Failure, self.class.unavailable if self.class.unavailable

          Dir.mktmpdir("cuttle-tester") do |directory|
            @directory = directory
            share = cpu_share { execute }
            said = self.class.read(File.read(file("out")).scrub) || (Result::NOTHING if @interrupted)
            raise Failure, "#{program}: #{last_words}" unless said

            Result.new(said, client_cpu: share, interrupted: @interrupted)
          end
        end

        # Ends the run. May be called from a trap handler and from any thread. Kills the program, because Siege misses
        # other signals while it starts. Nothing reads the report of an interrupted run.
        def interrupt
          @interrupted = true
          kill if @pid
        end

        private

        attr_reader :threads

        def program
          self.class::PROGRAM
        end

        def variables
          {}
        end

        # Puts the program in its own process group, so that a Ctrl-C at the terminal reaches only the lab, which then
        # interrupts the program in order.
        def execute
          @pid = Process.spawn(variables, *command, in: File::NULL, out: file("out"), err: file("err"), pgroup: true)
          ended = Process.detach(@pid)
          interrupt if @interrupted # interrupted before the start
          ended.join(MOST) or raise Failure, "#{program} did not end within #{MOST} s"
          @pid = nil
        ensure
          if @pid # after an exception
            kill
            ended.join
          end
        end

        # Kills the program and everything that it has started, because the command may be a wrapper script.
        def kill
          Process.kill(:KILL, -@pid)
        rescue Errno::ESRCH
          nil # the program has ended
        end

        # The CPU time of each of its threads per second while the block runs, 0 to 1.
        def cpu_share
          cpu, wall = Machine.children_cpu, Cuttle.now
          yield
          (Machine.children_cpu - cpu) / ((Cuttle.now - wall) * threads)
        end

        # Whole seconds: none of the programs accepts fractions.
        def seconds
          [@duration.ceil, 1].max
        end

        def file(name)
          "#{@directory}/#{name}"
        end

        def last_words
          said = Servers::Server.last_words(%w[out err].map { |name| File.read(file(name)).scrub }.join("\n"), 1)
          said.empty? ? "no output" : said
        end
      end

      # A tester's report, under the names of Load::Result. Values that it does not report are nil.
      class Result
        # In nanoseconds.
        Latency = Struct.new(:min, :mean, :max)

        # The report of a run without output.
        NOTHING = { rate: 0.0, responses: 0, elapsed: 0.0, errors: {} }.freeze

        attr_reader :rate, :responses, :octets, :elapsed, :errors, :latency, :client_cpu

        # said: rate, responses, octets, elapsed, errors ({ class of docs/load.md => count }), min, mean, max, and
        # percentiles ({ 99 => seconds }); times in seconds. client_cpu: CPU share of its busiest thread, 0 to 1.
        def initialize(said, client_cpu:, interrupted: false)
          @rate, @responses, @octets, @elapsed, @errors = said.values_at(:rate, :responses, :octets, :elapsed, :errors)
          @latency = Latency.new(*said.values_at(:min, :mean, :max).map { |each| nanoseconds(each) })
          @percentiles = said.fetch(:percentiles, {}).to_h { |each, time| [each.to_f, nanoseconds(time)] }
          @client_cpu = client_cpu
          @interrupted = interrupted
        end

        def interrupted?
          @interrupted
        end

        # The requests whose outcome it reports.
        def arrivals
          responses + errors.sum { |name, count| name.start_with?("status_") ? 0 : count }
        end

        # In nanoseconds, or nil.
        def percentile(percentile)
          @percentiles[percentile.to_f]
        end

        # nil: no tester keeps every time.
        def distribution
          nil
        end

        # Empty: no tester reports single seconds or warnings.
        def windows
          []
        end
        alias marks windows

        private

        def nanoseconds(seconds)
          seconds && (seconds * 1e9)
        end
      end
    end
  end
end

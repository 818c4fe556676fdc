# frozen_string_literal: true

require "tmpdir"

module Cuttle
  module Lab
    module Testers
      # A run of a program that loads a server, where a Load::Generator would be: made with the same options, it has
      # `run` and `interrupt`. What it prints is told as it prints it, in its own resolution.
      #
      # It runs on this process's cores, which are the load's (Cores#pin_self). A program is a class with
      #   PROGRAM, PACKAGE      its name, and Debian's for what it comes in
      #   .read(text)           what a report says, as Result takes it, or nil where +text+ has none
      #   #command              argv
      # and may have
      #   #variables            of its environment
      #   #threads              that it runs on the load's cores at once
      class Tester
        MOST = 600 # seconds that a run may take

        class << self
          # Why it can't be had here and what to do, or nil.
          def unavailable
            directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
            return if directories.any? { |path| File.executable?("#{path}/#{self::PROGRAM}") }

            "#{self::PROGRAM} is not installed: apt-get install #{self::PACKAGE}"
          end
        end

        # requests: how many; nil, or where the program can't be told: for duration, in seconds. Others of Load's options
        # are of what they don't have, chance. Raises Failure for what none of them can do.
        def initialize(url, connections:, duration:, requests: nil, keep_alive: false, threads: 1, timeout: 10,
                       rate: nil, mix: nil, **_others)
          raise Failure, "#{program} can't load at a rate, or with a mix: that takes cuttle load" if rate || mix

          @url = url
          @connections = connections
          @duration = duration
          @requests = requests
          @keep_alive = keep_alive
          @threads = threads
          @timeout = timeout
          @interrupted = false
        end

        # Result. Raises Failure, with the last that the program said.
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

        # Ends the run. May be called from a trap handler and from any thread.
        def interrupt
          @interrupted = true
          Process.kill(:TERM, @pid) if @pid
        rescue Errno::ESRCH
          nil # it has ended by itself
        end

        private

        attr_reader :threads

        def program
          self.class::PROGRAM
        end

        def variables
          {}
        end

        # Its own process group: a Ctrl-C at the terminal is for the lab, which then interrupts in order.
        def execute
          @pid = Process.spawn(variables, *command, in: File::NULL, out: file("out"), err: file("err"), pgroup: true)
          ended = Process.detach(@pid)
          interrupt if @interrupted # since before it began
          ended.join(MOST) or raise Failure, "#{program} did not end within #{MOST} s"
          @pid = nil
        ensure
          kill(ended) if @pid
        end

        # Where an exception ended the waiting.
        def kill(ended)
          Process.kill(:KILL, @pid)
          ended.join
        end

        # CPU time by time of each of its threads, 0 to 1, while the block runs.
        def cpu_share
          cpu, wall = children_cpu, now
          yield
          (children_cpu - cpu) / ((now - wall) * threads)
        end

        def children_cpu
          times = Process.times
          times.cutime + times.cstime
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # None of them knows parts of one.
        def seconds
          [@duration.ceil, 1].max
        end

        def file(name)
          "#{@directory}/#{name}"
        end

        def last_words
          said = Servers::Server.last_words(%w[out err].map { |name| File.read(file(name)).scrub }.join("\n"), 1)
          said.empty? ? "it said nothing" : said
        end
      end

      # What a tester said of a run, under the names that Load::Result has for it. What it doesn't tell is nil.
      class Result
        # Nanoseconds.
        Latency = Struct.new(:min, :mean, :max)

        # Of a run that came to no report.
        NOTHING = { rate: 0.0, responses: 0, elapsed: 0.0, errors: {} }.freeze

        attr_reader :rate, :responses, :octets, :elapsed, :errors, :latency, :client_cpu

        # said: rate, responses, octets, elapsed, errors ({ class of docs/load.md => count }), min, mean, max, and
        # percentiles ({ 99 => seconds }); times in seconds. client_cpu: of its busiest thread, 0 to 1.
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

        # Requests of which it tells how they ended.
        def sent
          responses + errors.sum { |name, count| name.start_with?("status_") ? 0 : count }
        end

        # Nanoseconds, or nil.
        def percentile(percentile)
          @percentiles[percentile.to_f]
        end

        # None of them keeps every time.
        def distribution
          nil
        end

        # Of seconds, and what is to be held against the figures: none of them says so much.
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

# frozen_string_literal: true

module Cuttle
  module Lab
    # A Rack app whose work is known: it computes, waits, locks, allocates and answers as much as it is asked to, so
    # that what a server adds can be told from what the app costs. `GET /?cpu_ms=5&iowait_ms=20&response_chars=1000`;
    # all parameters and their limits are in work_app/parameters.rb, and docs/work.md says what they mean.
    #
    # Law: this file and those in work_app/ load alone, under any server's Ruby and Rack. They name nothing else of
    # Cuttle, and Rack only by its interface. A request changes nothing but what the pools hold, so any number of
    # threads, fibers and forked processes may call.
    class WorkApp
      require_relative "work_app/parameters"

      autoload :Database, "#{__dir__}/work_app/database"
      autoload :Pool, "#{__dir__}/work_app/database"
      autoload :Upstream, "#{__dir__}/work_app/upstream"

      Invalid = Parameters::Invalid

      # What the app needs and can't reach: status (502 or 503), and one line.
      class Unavailable < StandardError
        attr_reader :status

        def initialize(status, message)
          super(message)
          @status = status
        end
      end

      KEPT = 256 # query strings whose parameters are remembered
      KEPT_CHARS = 1_000_000 # the longest body that is

      # Defaults from WORK_CPU_MS and so on, and the database from WORK_DATABASE. Raises Invalid.
      def self.from_environment(environment = ENV)
        given = Parameters::NAMES.to_h { |name| [name, environment["WORK_#{name.upcase}"]] }.compact
        new(database: environment["WORK_DATABASE"], **given)
      end

      # +defaults+: parameters by name, as numbers or as they would be in a query. database: where PostgreSQL is, as
      # libpq takes it. Raises Invalid.
      def initialize(database: nil, **defaults)
        @defaults = Parameters.new(defaults)
        @database = database
        @parameters = {}
        @databases = {}
        @lock = Mutex.new
        @serial = Mutex.new
        Database.require_driver if @defaults.query # what is missing is better said at the start
      end

      # Rack's interface.
      def call(env)
        parameters = parameters(env["QUERY_STRING"].to_s)
        perform(parameters)
        answer(env, 200, parameters.body)
      rescue Invalid => error
        answer(env, 400, "#{error.message}\n")
      rescue Unavailable => error
        answer(env, error.status, "#{error.message}\n")
      end

      private

      def parameters(query)
        return @defaults if query.empty?

        @parameters[query] || @defaults.with(query).tap { |parameters| remember(query, parameters) }
      end

      def remember(query, parameters)
        return if parameters.response_chars > KEPT_CHARS

        @parameters.clear if @parameters.size >= KEPT
        @parameters[query] = parameters
      end

      def perform(parameters)
        factor = Lognormal.draw(parameters.cv)
        garbage = allocate(parameters.alloc_kb)
        slices(parameters, factor)
        serial_section(parameters.lock_ms / 1000.0 * factor)
        garbage.size
      end

      # CPU and I/O by turns. What one slice burned too much, the next one burns less.
      def slices(parameters, factor)
        share = factor / parameters.slices / 1000
        owed = 0.0
        parameters.slices.times do
          owed += parameters.cpu_ms * share
          owed -= Burner.burn(owed, parameters.spin)
          wait(parameters, parameters.iowait_ms * share)
        end
      end

      def wait(parameters, seconds)
        database(parameters.pool).read if parameters.query == "table"
        if parameters.query == "sleep" then database(parameters.pool).sleep(seconds)
        elsif parameters.upstream then Upstream.get(parameters.upstream, seconds)
        elsif seconds.positive? then sleep(seconds)
        end
      end

      # Waits while it holds the one lock of this process.
      def serial_section(seconds)
        @serial.synchronize { sleep(seconds) } if seconds.positive?
      end

      # Strings of 1 KiB, alive until the response is made.
      def allocate(kilobytes)
        Array.new(kilobytes) { "k" * 1024 }
      end

      # Connections are a process's own: one that forked after its first query makes others.
      def database(size)
        @databases[[Process.pid, size]] || @lock.synchronize do
          @databases[[Process.pid, size]] ||= Database.new(@database, size)
        end
      end

      def answer(env, status, body)
        headers = { "content-type" => "text/plain", "content-length" => body.bytesize.to_s,
                    "cache-control" => "no-store" }
        [status, headers, env["REQUEST_METHOD"] == "HEAD" ? [] : [body]]
      end

      # Computes for a given time.
      #
      # "thread" measures it on the calling thread's own CPU clock, so what is burned is what was asked for, however
      # long the thread waits for a core or for Ruby's lock meanwhile. "wall" looks at the clock on the wall instead, as
      # the published benchmarks did: time spent waiting then counts as computed, and more requests are served than the
      # cores could compute. It is there to reproduce them.
      module Burner
        CLOCKS = { "thread" => Process::CLOCK_THREAD_CPUTIME_ID, "wall" => Process::CLOCK_MONOTONIC }.freeze

        # Additions between two looks at the clock: about 10 us in the interpreter, beside 0.3 us for the look.
        PORTION = 300

        module_function

        # Returns the seconds that it took, on the same clock: at least +seconds+.
        def burn(seconds, spin = "thread")
          return 0.0 unless seconds.positive?

          clock = CLOCKS.fetch(spin)
          now = start = Process.clock_gettime(clock)
          while now - start < seconds
            count = 0
            count += 1 while count < PORTION
            now = Process.clock_gettime(clock)
          end
          now - start
        end
      end

      # Uneven requests: a factor of mean 1 whose standard deviation is +cv+ times its mean, lognormally distributed, as
      # response times mostly are (many a little shorter than the mean, few much longer).
      module Lognormal
        module_function

        # +random+: what rand is asked of; Ruby's own differs between forked processes.
        def draw(cv, random = Random)
          return 1.0 if cv.zero?

          variance = Math.log(1 + cv**2) # of the logarithm
          Math.exp(Math.sqrt(variance) * normal(random) - variance / 2)
        end

        # Standard normal, by Box and Muller.
        def normal(random)
          Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
        end
      end
    end
  end
end

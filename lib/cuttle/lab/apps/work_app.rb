# frozen_string_literal: true

module Cuttle
  module Lab
    # A Rack app with known work: it computes, waits, locks, allocates and answers as much as a request specifies, so
    # that a server's own cost can be separated from the app's. `GET /?cpu_ms=5&iowait_ms=20&response_chars=1000`.
    # work_app/parameters.rb has all parameters and their limits; docs/work.md explains them.
    #
    # Rule: this file and those in work_app/ load alone, under any server's Ruby and Rack. They name nothing else of
    # Cuttle, and use Rack only through its interface. A request changes only the pools, so any number of threads,
    # fibers and forked processes may call the app.
    class WorkApp
      require_relative "work_app/parameters"

      autoload :Database, "#{__dir__}/work_app/database"
      autoload :Pool, "#{__dir__}/work_app/database"
      autoload :Upstream, "#{__dir__}/work_app/upstream"

      Invalid = Parameters::Invalid

      # A resource of the app is unavailable: status 502 or 503, and one line.
      class Unavailable < StandardError
        attr_reader :status

        def initialize(status, message)
          super(message)
          @status = status
        end
      end

      KEPT = 256 # query strings whose parameters are cached
      KEPT_CHARS = 1_000_000 # characters; longer bodies are not cached

      # Takes the defaults from WORK_CPU_MS and so on, and the database from WORK_DATABASE. Raises Invalid.
      def self.from_environment(environment = ENV)
        given = Parameters::NAMES.to_h { |name| [name, environment["WORK_#{name.upcase}"]] }.compact
        new(database: environment["WORK_DATABASE"], **given)
      end

      # +defaults+: parameters by name, as numbers or as in a query string. database: URL of PostgreSQL for libpq.
      # Raises Invalid.
      def initialize(database: nil, **defaults)
        @defaults = Parameters.new(defaults)
        @database = database
        @parameters = {}
        @databases = {}
        @lock = Mutex.new
        @serial = Mutex.new
        Database.require_driver if @defaults.query # fails at the start if the gem is missing
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

      # Computes and waits alternately. If a slice computes too long, the next one computes less.
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

      # Waits while it holds the process's only lock.
      def serial_section(seconds)
        @serial.synchronize { sleep(seconds) } if seconds.positive?
      end

      # Strings of 1 KiB that live until the response is complete.
      def allocate(kilobytes)
        Array.new(kilobytes) { "k" * 1024 }
      end

      # Each process has its own connections; a process that forks after its first query makes new ones.
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
      # "thread" measures the time on the thread's CPU clock, so it burns exactly the given CPU time, however long the
      # thread waits for a core or for Ruby's lock. "wall" uses the wall clock, as the published benchmarks did: waiting
      # counts as computing, so more requests are served than the cores could compute. It exists to reproduce those
      # benchmarks.
      module Burner
        CLOCKS = { "thread" => Process::CLOCK_THREAD_CPUTIME_ID, "wall" => Process::CLOCK_MONOTONIC }.freeze

        # Additions between two reads of the clock: about 10 us in the interpreter; a read takes 0.3 us.
        PORTION = 300

        module_function

        # Returns the elapsed seconds on the same clock, at least +seconds+.
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

      # Draws a factor for uneven requests, with mean 1 and a standard deviation of +cv+ times the mean. It is
      # lognormally distributed, as response times mostly are: many are a little shorter than the mean, few are much
      # longer.
      module Lognormal
        module_function

        # +random+: the source of random numbers. Ruby's default one differs between forked processes.
        def draw(cv, random = Random)
          return 1.0 if cv.zero?

          variance = Math.log(1 + cv**2) # of the logarithm
          Math.exp(Math.sqrt(variance) * normal(random) - variance / 2)
        end

        # A standard normal number, by Box and Muller.
        def normal(random)
          Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Bench
  # A load made by wrk: a closed loop over a number of connections, from one thread.
  #
  # What wrk's figures mean: it "corrects" latencies above twice the mean interval by adding made-up shorter ones, and
  # drops what takes longer than its timeout; so the timeout here is far above what any sane server needs.
  class Wrk
    class Failed < StandardError; end

    SCRIPT = File.expand_path("wrk.lua", __dir__)
    TIMEOUT = 30

    attr_reader :connections, :path

    def initialize(connections:, path: "/")
      @connections = connections
      @path = path
    end

    # Runs for the given seconds; returns wrk's figures (see parse) and the CPU time it used itself.
    def call(port, seconds, cores)
      before = Wrk.children_cpu
      output = IO.popen(cores.pin(cores.load, command(port, seconds)), err: %i[child out], &:read)
      Wrk.parse(output).merge(load_cpu: Wrk.children_cpu - before)
    end

    # The numbers of a run, by name: seconds, requests, bytes, rate and byte_rate per second, p50, p95, p99 and max in
    # microseconds, p95_p50 (their ratio), errors (a Hash of what went wrong at least once => how often; empty when all went well).
    def self.parse(output)
      line = output[/^wrk-json (\{.*\})$/, 1] or raise Failed, "wrk failed: #{output.strip.lines.last&.strip || "no output"}"
      run = JSON.parse(line, symbolize_names: true)
      seconds = run[:duration_us] / 1e6
      { seconds: seconds, requests: run[:requests], bytes: run[:bytes],
        rate: run[:requests] / seconds, byte_rate: run[:bytes] / seconds,
        p50: run[:p50_us], p95: run[:p95_us], p99: run[:p99_us], max: run[:max_us],
        p95_p50: run[:p95_us] / [run[:p50_us], 1].max.to_f,
        errors: run[:errors].select { |_kind, count| count.positive? } }
    end

    # Seconds of CPU time of the children that this process waited for, by getrusage (microseconds).
    def self.children_cpu
      times = Process.times
      times.cutime + times.cstime
    end

    private

    def command(port, seconds)
      ["wrk", "-t1", "-c#{connections}", "-d#{seconds}", "--timeout", "#{TIMEOUT}s", "-s", SCRIPT,
       "http://127.0.0.1:#{port}#{path}"]
    end
  end
end

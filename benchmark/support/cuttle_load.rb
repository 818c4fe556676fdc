# frozen_string_literal: true

module Bench
  # A load made by `cuttle load`, in one thread: a closed loop, or an open one where there is a rate. Its percentiles
  # are those of every response, without a correction; in an open loop, from the intended time.
  class CuttleLoad
    class Failed < Wrk::Failed; end

    COMMAND = [RbConfig.ruby, "-I", File.join(ROOT, "lib"), File.join(ROOT, "exe/cuttle"), "load"].freeze
    NOTHING_ANSWERED = 1 # its exit status

    attr_reader :connections

    # connections: in an open loop the most there may be. rate: requests per second. warmup: seconds before it measures,
    # whose requests Meter does not know of.
    def initialize(connections:, rate: nil, path: "/", warmup: 0, timeout: 10)
      @connections = connections
      @rate = rate
      @path = path
      @warmup = warmup
      @timeout = timeout
    end

    # Runs for the given seconds; returns what Wrk.parse does, and sent, good_rate (right responses per second) and
    # load_cpu, the CPU time it used itself.
    def call(port, seconds, cores)
      before = Wrk.children_cpu
      pinned = cores.pin(cores.load, command(port, seconds))
      output = IO.popen([::Cuttle::Lab::Servers::Server::CLEAN, *pinned, { err: File::NULL }], &:read)
      CuttleLoad.parse(output).merge(load_cpu: Wrk.children_cpu - before)
    end

    # The figures in a result's JSON. Where nothing was answered, the times are those that were waited at least.
    def self.parse(output)
      result = ::Cuttle::Load::Result.load(JSON.parse(output))
      seconds = [result.elapsed, 1e-3].max
      { seconds: seconds, requests: result.responses, bytes: result.octets, rate: result.rate, sent: result.sent,
        byte_rate: result.octets / seconds, good_rate: good(result) / seconds, errors: errors(result),
        **times(result, seconds) }
    rescue JSON::ParserError, ::Cuttle::Load::Failure
      raise Failed, "cuttle load failed: #{output.strip.lines.last&.strip || "no output"}"
    end

    # Responses with the right status while requests were sent.
    def self.good(result)
      result.windows.reject(&:draining?).sum do |window|
        window.responses - window.errors.sum { |kind, count| kind.start_with?("status") ? count : 0 }
      end
    end

    # Microseconds, as wrk's.
    def self.times(result, seconds)
      latency = result.latency
      known = latency.count.positive?
      p50, p95, p99, max = [50, 95, 99, 100].map { |share| known ? latency.value_at(share) / 1e3 : seconds * 1e6 }
      { p50: p50, p95: p95, p99: p99, max: max, p95_p50: p95 / [p50, 1].max }
    end

    # Kind => count of what happened; requests that nobody answered by the end are errors where none was answered at
    # all.
    def self.errors(result)
      errors = result.errors.select { |_kind, count| count.positive? }
      result.responses.zero? ? errors.merge(unanswered: result.sent) : errors
    end
    private_class_method :good, :times, :errors

    private

    def command(port, seconds)
      options = [*(["--rate", @rate.to_s] if @rate), *(["--warmup", "#{@warmup}s"] if @warmup.positive?)]
      [*COMMAND, "http://127.0.0.1:#{port}#{@path}", "-c", @connections.to_s, *options, "-d", "#{seconds}s",
       "--timeout", "#{@timeout}s", "-t", "1", "-q", "--json", "-"]
    end
  end
end

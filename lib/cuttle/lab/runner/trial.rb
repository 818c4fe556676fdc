# frozen_string_literal: true

require "time"
require "uri"

module Cuttle
  module Lab
    class Runner
      # Makes one run: warms up a running server, loads it, measures it, and describes the run for the results file.
      class Trial
        PERCENTILES = %w[50 90 95 99 99.9].freeze
        WRONG = [*Load::Result::WRONG, :malformed, :length].freeze
        UNPROVED = "unproved: " # the reasons begin with it if a setting did not take effect, or can't be seen
        ENOUGH = 0.8 # share of a load's least time
        MOST_WRONG = 0.001 # share of the requests; a server may be fast because its answers are wrong

        # server: Servers::Server. speed: Machine::CoreSpeed. generator: called with a URL, Load's options and tester:
        # (nil or a name of Testers); returns a Load::Result or a Testers::Result.
        def initialize(server:, load:, testbed:, plan:, cores:, speed:, generator:)
          @server = server
          @load = load
          @testbed = testbed
          @plan = plan
          @cores = cores
          @speed = speed
          @generator = generator
        end

        # Returns a Hash, or nil if the run was interrupted. route: the Network::Routes::Route to the server. again:
        # whether a disturbed run may be repeated. Of two runs, the one with less computing power withheld is kept,
        # independent of its results. Raises Failure, and Load::Failure among others.
        def run(configuration, route, again: false)
          prepare(configuration, route)
          steady = warm_up
          measured = [measure_long_enough]
          measured << measure if again && disturbed?(*measured.first)
          result, figures = measured.reject { |each, _| each.interrupted? }.min_by { |_, each| each.withheld }
          record(result, figures, steady).merge("repeated" => measured.length > 1) if result
        end

        private

        def prepare(configuration, route)
          @route = route
          @url = @load.path ? URI.join(route.url, @load.path).to_s : route.url
          @options = @testbed.load_options(configuration, @load, @cores)
          check_answer if @load.octets
        end

        # A server that answers something else may be fast, but its figures mean nothing.
        def check_answer
          path = @load.path || "/"
          answer = @server.get(path)
          found = [answer.status, answer.body.bytesize]
          return if found == [200, @load.octets]

          raise Failure, format("answered %d with %d octets to GET #{path}, and not 200 with #{@load.octets}", *found)
        end

        # Whether the server became steady (see WarmUp).
        def warm_up
          WarmUp.new(@plan.warmup) do |seconds|
            piece = @generator.call(@url, **@options, duration: seconds)
            Refusal.check(piece, @url, mix: @options[:mix])
            @rate = piece.rate
            piece
          end.call
        end

        # As measure does, for at least the load's least time. A warm-up's pieces may be too short to show the rate.
        # Then the first run ends too soon, and only shows the rate.
        def measure_long_enough
          measured = measure
          result = measured.first
          enough = result.elapsed >= ENOUGH * @load.least.to_f
          return measured if enough || result.interrupted? || result.responses.zero?

          @rate = result.rate
          measure
        end

        # [result, Machine::Meter::Figures] of a load. options: further options of Cuttle::Load.
        def measure(**options)
          Machine::Meter.new(@server.tree, @cores, @speed, @route, services: @testbed.method(:services_cpu)).measure do
            @generator.call(@url, tester: @load.tester, **@options, **length, **options)
          end
        end

        # A number of requests, whatever time they take, or a duration. A tester gets both, because some testers can't
        # take a number.
        def length
          time = { duration: @plan.duration }
          return time unless @load.requests

          { requests: requests, **(@load.tester ? time : {}) }
        end

        # As many requests as the load has, or more if these took less than its least time at the last rate.
        def requests
          [@load.requests, (@load.least.to_f * @rate.to_f).ceil].max
        end

        def disturbed?(result, figures)
          !result.interrupted? && figures.disturbed?
        end

        def record(result, figures, steady)
          raise Failure, "the server died: #{last_words}" unless @server.running?

          proof = @server.proof
          reasons = unproved(proof) + wrong(result)
          load_cpu = [result.client_cpu, figures.network].max
          warnings = Machine::Warnings.during(others: figures.others, steal: figures.steal, speed: figures.speed,
                                              load_cpu: load_cpu)
          { "valid" => reasons.empty?, "reasons" => reasons, "boot" => @server.boot,
            "proof" => proof.map { |each| plain(each) }, "steady" => steady, **counts(result), "ms" => times(result),
            "server" => figures.server, "load_cpu" => load_cpu, "marks" => marks(result),
            "windows" => windows(result), "histogram" => result.distribution, "warnings" => warnings.map(&:to_h),
            "lost" => figures.lost, "speed" => figures.speed&.round(3), **database }
        end

        def counts(result)
          { "rate" => result.rate, "responses" => result.responses, "sent" => result.arrivals,
            "octets" => result.octets, "elapsed" => result.elapsed,
            "errors" => result.errors.transform_keys(&:to_s) }
        end

        def database
          { "database_connections" => @testbed.database_connections }.compact
        end

        def plain(proof)
          %w[setting wanted found proved how].to_h { |name| [name, proof.public_send(name)] }
        end

        def unproved(proof)
          proof.select { |each| each.proved == false }.map do |each|
            found = each.found.nil? ? "not visible" : each.found
            "#{UNPROVED}#{each.setting} should be #{each.wanted}, but is #{found}"
          end
        end

        def wrong(result)
          return ["nothing was answered"] if result.responses.zero?
          return ["nothing was answered before the run ended"] if result.rate.zero?

          wrong = result.errors.slice(*WRONG).select { |_, count| count.positive? }
          return [] if wrong.values.sum <= MOST_WRONG * result.arrivals

          ["wrong answers: #{wrong.map { |name, count| "#{name} #{count}" }.join(", ")}"]
        end

        def times(result)
          latency = result.latency
          { "min" => latency.min, "mean" => latency.mean, "max" => latency.max }
            .merge(PERCENTILES.to_h { |each| ["p#{each}", result.percentile(each.to_f)] })
            .transform_values { |nanoseconds| milliseconds(nanoseconds) }
        end

        def milliseconds(nanoseconds)
          nanoseconds && (nanoseconds / 1e6).round(6)
        end

        # The load generator's warnings. Few samples are not a warning here: intervals show that.
        def marks(result)
          result.marks.map { |mark| { "name" => mark.name.to_s, "text" => mark.text } }
        end

        def windows(result)
          result.windows.reject(&:draining?).map do |window|
            histogram = window.histogram
            { "from" => window.from, "to" => window.to, "rate" => window.rate, "errors" => window.failures,
              "p50_ms" => milliseconds(result.percentile(50, histogram)),
              "p99_ms" => milliseconds(result.percentile(99, histogram)) }
          end
        end

        def last_words
          said = Servers::Server.last_words(@server.output.to_s, 1)
          said.empty? ? "no output" : said
        end
      end
    end
  end
end

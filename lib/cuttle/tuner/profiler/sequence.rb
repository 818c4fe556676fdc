# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # Sends the requests of a mix one after the other, in random order, and reads the times of each from its response
      # (Server-Timing). A request's number of waits is the number of times that its thread gave up the processor
      # voluntarily.
      #
      # Rule: only one request at a time, so that no figure includes waiting for other requests.
      class Sequence
        SHARE = 0.45 # share of the time
        WARM_UP = 0.15 # share of the sequence's time
        WARM_SECONDS = 10 # at most
        ENOUGH = 500 # requests, where the time allows it
        FEWEST = 30
        MOST = 50_000
        PRECISE = 0.01 # standard error / mean
        SECONDS = 2 # at least
        EVENLY = 0.2 # share of the requests that is spread evenly over all shapes, so that rare ones are measured
        WRONG = 0.01 # share of the answers
        # The field has whole microseconds, rounded down: half a microsecond is missing on average.
        CUT = 0.5e-6

        def initialize(site, shapes, seed:, schedule:)
          @site = site
          @shapes = shapes
          @random = Random.new(seed)
          @schedule = schedule
          @samples = Samples.new(shapes)
          @wrong = 0
          @sums = sums
        end

        # The Samples. Raises Failure. Raises Interrupt if Ctrl-C came before there were enough of them.
        def run
          seconds = @schedule.left * SHARE
          warming = [seconds * WARM_UP, WARM_SECONDS].min
          warm_up(warming)
          began = Cuttle.now # on a busy machine, the warm-up may have taken much longer
          measure(began + seconds - warming)
          return @samples if @samples.count >= [FEWEST, @shapes.length].max && @samples.least.positive?

          raise Interrupt if @schedule.stopped?

          raise Failure, format("%d requests in %.1f s are too few for a profile, which needs %d, and some of each " \
                                "kind: increase --budget", @samples.count, Cuttle.now - began, FEWEST)
        end

        private

        # Warms up like a lab's run, with one connection.
        def warm_up(seconds)
          Lab::Runner::WarmUp.new(seconds) { |piece| @site.load(connections: 1, duration: piece) }.call
        end

        def measure(deadline)
          least = Cuttle.now + SECONDS
          look = ENOUGH
          before = @site.switches
          until @schedule.passed?(deadline) || @samples.count >= MOST
            before = one(before)
            next if @samples.count < look

            break if Cuttle.now >= least && precise?

            look = (@samples.count * 1.2).ceil
          end
        end

        # Sends one request. Returns the number of switches so far.
        def one(before)
          shape = pick
          request = shape.requests[pick_of(shape)]
          response = @site.client.call(request)
          now = @site.switches
          count_wrong(request, response) unless Answers.right?(request, response.status)
          add(shape, response.timing, now && before && (now - before))
          now
        end

        def add(shape, timing, switches)
          cpu = timing[:cpu] or raise Failure, "the server on this Ruby does not report the times of requests"
          @samples.add(shape, cpu + CUT + timing[:gc].to_f, timing[:wait].to_f + timing[:gvl].to_f, switches)
        end

        def count_wrong(request, response)
          @wrong += 1
          raise Failure, Answers.wrong(request, response.status) if @wrong > [WRONG * @samples.count, 3].max
        end

        def precise?
          cpu = @samples.mean(:cpu)
          @samples.error(:cpu) <= PRECISE * cpu &&
            @samples.error(:wait) <= PRECISE * [@samples.mean(:wait), cpu / 10].max
        end

        # --- random choice by weight ---

        def pick
          return @shapes.sample(random: @random) if @random.rand < EVENLY

          choose(@shapes, @sums[nil])
        end

        def pick_of(shape)
          shape.requests.one? ? 0 : choose((0...shape.requests.length), @sums[shape])
        end

        def choose(all, sums)
          place = @random.rand * sums.last
          all.to_a[sums.bsearch_index { |sum| sum > place }]
        end

        def sums
          { nil => running(@shapes), **@shapes.to_h { |shape| [shape, running(shape.requests)] } }
        end

        def running(weighted)
          sum = 0
          weighted.map { |each| sum += each.weight }
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # Sends the requests of a mix one after the other, in random order, and reads from each response where its time
      # went (Server-Timing). How often a request waits is how often its thread gave up the processor of its own will.
      #
      # Rule: one request at a time, so that nothing in these figures is waiting for other requests.
      class Sequence
        SHARE = 0.45 # of the time
        WARM_UP = 0.15 # of that
        WARM_SECONDS = 10 # at most
        ENOUGH = 500 # requests, where the time allows it
        FEWEST = 30
        MOST = 50_000
        PRECISE = 0.01 # of the mean: its standard error
        SECONDS = 2 # at least
        EVENLY = 0.2 # share of the requests that goes to all shapes alike, so that rare ones are seen, too
        WRONG = 0.01 # of the answers
        # The field has whole microseconds, cut: a half is missing on average.
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

        # The Samples. Raises Failure, and Interrupt if there are too few of them because of Ctrl-C.
        def run
          deadline = @schedule.deadline(SHARE)
          warm_up
          measure(deadline)
          return @samples if @samples.count >= [FEWEST, @shapes.length].max && @samples.least.positive?

          raise Interrupt if @schedule.stopped?

          raise Failure, "#{@samples.count} requests in #{@schedule.seconds.round} s are too few for a profile: give " \
                         "more --budget"
        end

        private

        # As a lab's runs are warmed up, with one connection.
        def warm_up
          seconds = [@schedule.left * SHARE * WARM_UP, WARM_SECONDS].min
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

        # Returns the switches until now.
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
          cpu = timing[:cpu] or raise Failure, "this Ruby's server does not say where the time of requests goes"
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

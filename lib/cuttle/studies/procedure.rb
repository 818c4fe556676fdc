# frozen_string_literal: true

module Cuttle
  module Studies
    # The measurement of one row, as the block of `published` or `trial` declares it.
    class Procedure
      REQUESTS = 1000 # if the publication doesn't give the number

      # Why the row isn't measured, or nil.
      attr_reader :reason

      # row: Published::Row, which the block receives. Raises Failure.
      def initialize(row, block)
        @servers = []
        @loads = []
        instance_exec(row, &block)
        raise Failure, "#{row.place}: neither serve and ask nor skip" unless reason || [@servers, @loads].all?(&:any?)
      end

      # Returns a Study::Entry.
      def entry(row)
        Study::Entry.new(row, reason ? [] : conditions, reason)
      end

      # Measures Cuttle. like: a server whose model and defaults it uses. engine: that model. original: also measures
      # that server itself, under the lab's name ("thin:threaded"); nil if it is no longer available. flags: further
      # options of `cuttle serve`. ruby: the series of another Ruby ("3.4"). copy: a number, if it repeats another
      # condition on purpose.
      def serve(engine:, like: nil, original: nil, **numbers)
        @servers << server("cuttle", engine, like, **numbers)
        other(original, **numbers) if original
      end

      # Measures only another of the lab's servers.
      def other(name, **numbers)
        peer, model = name.split(":", 2)
        @servers << server(peer, model, nil, **numbers)
      end

      # The request, and the number of connections that send it. requests: their number, at full length. rate: of an
      # open loop, per second. delay, bandwidth: of a slow network, in seconds and octets per second each way. tester:
      # "ab", "siege", "wrk"; nil for cuttle load. full_length: whether a scale doesn't shorten it, because a shorter
      # one would not show its effect.
      def ask(request, connections:, requests: REQUESTS, rate: nil, poisson: nil, delay: nil, bandwidth: nil,
              tester: nil, full_length: nil)
        @loads << { request: request, connections: connections, requests: requests || REQUESTS, rate: rate,
                    poisson: poisson, delay: delay, bandwidth: bandwidth, tester: tester, full_length: full_length }
      end

      # Skips the row, with a reason.
      def skip(reason)
        @reason = reason
      end

      # A request for the app's root, with parameters of the work app.
      def work(parameters = {})
        Request.work(parameters)
      end

      def get(path, parameters = {})
        Request.work(parameters, path: path)
      end

      private

      def server(name, model, like, workers: 0, threads: 1, keep_alive: false, environment: nil, flags: nil, ruby: nil,
                 copy: nil)
        { server: name, model: model, like: like, workers: workers, threads: threads, keep_alive: keep_alive,
          environment: environment, flags: flags, ruby: ruby, copy: copy }
      end

      def conditions
        @servers.product(@loads).map { |server, load| Condition.new(**server, **load) }
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    # A condition of the experiment: a server with its numbers, under a load. Published rows with the same settings
    # share one condition.
    #
    #   server        name of a peer of the lab
    #   model, like   Cuttle's engine, and the server whose defaults it uses
    #   workers, threads, keep_alive, environment    as in the lab
    #   flags         further options of `cuttle serve`
    #   ruby          series ("3.4") of the Ruby that runs it, nil for this one
    #   copy          2, 3, …: an intended copy of another condition; Study::CONTROL: the A/A control
    #   request       Request
    #   connections   number of connections; requests: total number of requests, at full length
    #   rate, poisson    for an open loop, at full length; nil for a closed loop
    #   delay, bandwidth, tester   as in the lab's loads
    #   full_length   whether a Scale doesn't shorten it
    class Condition
      SERVING = %i[server model like workers threads keep_alive environment flags ruby copy].freeze
      ASKING = %i[request connections requests rate poisson delay bandwidth tester full_length].freeze
      NOTHING = (SERVING + ASKING).to_h { |name| [name, nil] }.freeze
      OURS = "cuttle"

      attr_reader :hash

      NOTHING.each_key { |name| define_method(name) { @attributes[name] } }

      def initialize(**attributes)
        @attributes = NOTHING.merge(attributes).freeze
        @hash = @attributes.hash # conditions are keys of many Hashes
        freeze
      end

      def ==(other)
        other.is_a?(Condition) && other.hash == hash && other.attributes == attributes
      end
      alias eql? ==

      def with(**changes)
        Condition.new(**attributes, **changes)
      end

      # The lab's configuration, without its id.
      def configuration
        SERVING.to_h { |name| [name.to_s, attributes[name]] }.except("ruby")
               .merge("keep_alive" => keeps_alive?, "series" => ruby, "name" => name)
      end

      # Its Scale in a study of that scale.
      def scale(asked)
        full_length ? Scale.new(1.0) : asked
      end

      # The lab's load, without its id, in a study of that scale.
      def load(asked)
        scale = scale(asked)
        { "name" => load_name, "loop" => rate ? "open" : "closed", "connections" => connections,
          "path" => request.target(scale),
          "requests" => request.scaled? ? requests : scale.count(requests, connections),
          "rate" => rate_at(scale), "poisson" => rate && poisson, "delay" => delay, "bandwidth" => bandwidth,
          "tester" => tester, "keep_alive" => keep_alive }
      end

      # One of Claim::SIDES.
      def side
        server == OURS ? :ours : :originals
      end

      # Number of processes that serve.
      def processes
        [workers, 1].max
      end

      def name
        [like ? "cuttle like #{like}" : [server, model].compact.join(" "), *numbers, ("keep-alive" if keep_alive),
         *flags, ("Ruby #{ruby}" if ruby), ("copy #{copy}" if copy)].compact.join(" ")
      end

      def load_name
        [rate ? "#{format("%g", rate)}/s#{" poisson" if poisson}" : "#{connections} at once", slow_network,
         tester && "by #{tester}", (request.path unless request.path == "/")]
          .compact.join(" ")
      end

      protected

      attr_reader :attributes

      private

      # If a server has no option to close connections, each request asks the server to close its connection.
      def keeps_alive?
        keep_alive || !Lab::Servers::Peers.find(server).keeps_alive.include?(false)
      end

      def numbers
        [("-w #{workers}" if workers.positive?), ("-t #{threads}" if threads > 1)]
      end

      # Shorter requests arrive correspondingly more often.
      def rate_at(scale)
        rate && (request.scaled? ? rate / scale.factor : rate)
      end

      def slow_network
        parts = [("#{format("%g", delay * 1000)} ms away" if delay),
                 ("#{format("%g", bandwidth / 1000.0)} kB/s" if bandwidth)].compact
        parts.join(", ") if parts.any?
      end
    end
  end
end

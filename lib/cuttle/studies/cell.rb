# frozen_string_literal: true

module Cuttle
  module Studies
    # What is measured: a server with its numbers, under a load. Two published rows that ask for the same are one cell.
    #
    #   server        name of a peer of the lab
    #   model, like   of ours: its engine, and whose habits it takes on
    #   workers, threads, keep_alive, environment    as the lab has them
    #   request       Request
    #   connections   of a closed loop; requests: how many at full length
    Cell = Struct.new(:server, :model, :like, :workers, :threads, :keep_alive, :environment, :request, :connections,
                      :requests, keyword_init: true) do
      # What the lab calls a configuration, without its id.
      def configuration
        { "server" => server, "model" => model, "like" => like, "workers" => workers, "threads" => threads,
          "keep_alive" => keep_alive, "environment" => environment, "name" => name }
      end

      def name
        [like ? "cuttle like #{like}" : [server, model].compact.join(" "), ("-w #{workers}" if workers.positive?),
         ("-t #{threads}" if threads > 1)].compact.join(" ")
      end

      # What the lab calls a load, without its id.
      def load(scale)
        { "name" => load_name, "loop" => "closed", "connections" => connections, "path" => request.target(scale),
          "requests" => request.scaled? ? requests : scale.count(requests, connections) }
      end

      def load_name
        "#{connections} at once#{" #{request.path}" if request.path != "/"}"
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    # What an app needs beside its server, started for the time of a lab: each a process of its own that ends with the
    # lab's, however that ends. A service has `start` (Lab::Failure where it doesn't come up), `environment` (variables
    # for the app), `stop`, and `unavailable` (nil, or why it can't be had here, and what to do).
    module Services
      autoload :Child, "cuttle/lab/services/child"
      autoload :Daemon, "cuttle/lab/services/daemon"
      autoload :Postgres, "cuttle/lab/services/postgres"
      autoload :Renderer, "cuttle/lab/services/renderer"
      autoload :Upstream, "cuttle/lab/services/upstream"

      # The class called +name+ ("postgres", "renderer", "upstream").
      def self.find(name)
        { "postgres" => Postgres, "renderer" => Renderer, "upstream" => Upstream }.fetch(name.to_s) do
          raise UsageError, "no service #{name} (postgres, renderer, upstream)"
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    module Services
      # A Node.js process that renders photos for the album app, one page at a time, for all workers of a server.
      class Renderer < Daemon
        PROGRAM = "#{Apps::STUDIED}/album/render.js"
        NAMES = %w[node nodejs].freeze

        # Path of Node.js, or nil.
        def self.node
          directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
          NAMES.product(directories).map { |name, directory| "#{directory}/#{name}" }
               .find { |path| File.file?(path) && File.executable?(path) }
        end

        def self.unavailable
          "Node.js is not installed (Debian: nodejs)" unless node
        end

        # Raises Lab::Failure.
        def self.start(cores: nil)
          raise Failure, "renderer: #{unavailable}" if unavailable

          new(Child.start(PROGRAM, cores: cores, by: [node]))
        end

        # For the album.
        def environment
          { "ALBUM_RENDERER" => "127.0.0.1:#{port}" }
        end
      end
    end
  end
end

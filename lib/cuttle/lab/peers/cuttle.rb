# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      # This Cuttle, as a user would start it. It says itself what it is.
      class Cuttle < Peer
        EXECUTABLE = "#{ROOT}/exe/cuttle"

        def models = Engines.names
        def workers = (0..)
        def keeps_alive = [true, false]
        def version = VERSION

        # Always the same (listeners.rb).
        def backlog(_setup) = 1024

        def thread_name = /\Acuttle \d+\z/

        def threads_of(setup)
          traits = Engines.traits(setup.model)
          return (1..1) unless traits.pooled?

          traits.thread_per_connection? ? (0..) : (1..)
        end

        # A fiber for each request, a thread for each connection.
        def slots(setup)
          super unless Engines.traits(setup.model).fibers? || setup.threads.zero?
        end

        # A clone's gems may be in a bundle of its own.
        def environment(_setup)
          gems = Dir["#{ROOT}/vendor/bundle/ruby/#{RbConfig::CONFIG["ruby_version"]}"].first
          gems ? { "GEM_PATH" => "#{gems}:" } : {}
        end

        # uri: where to listen.
        def command(setup, uri = "tcp://#{address(setup)}")
          [setup.ruby || RbConfig.ruby, "-I#{ROOT}/lib", EXECUTABLE, "serve", "-b", uri,
           "-e", "production", *model(setup), "-w", setup.workers.to_s, *pool(setup),
           setup.keep_alive ? "--keep-alive" : "--no-keep-alive", *setup.flags, setup.app]
        end

        private

        # What it says of its engine proves that a likeness has the model that it was thought to have.
        def model(setup)
          setup.like ? ["--like", setup.like] : ["--engine", setup.model]
        end

        def pool(setup)
          Engines.traits(setup.model).pooled? ? ["-t", "#{setup.threads}:#{setup.threads}"] : []
        end

        def settings(server)
          said = server.output[/^  engine +(\S+)$/, 1]
          [Proof.same("engine", server.setup.model, said, "its own word"),
           *(server.setup.threads.zero? ? [processes(server)] : super)]
        end
      end
    end
  end
end

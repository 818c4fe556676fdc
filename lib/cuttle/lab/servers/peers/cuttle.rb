# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # This Cuttle, started as a user starts it. It prints its settings.
        class Cuttle < Peer
          # The suffix of the models with --threads auto. They have no number of threads to prove.
          AUTO = "-auto"

          # Models that need an app made for ractors.
          def variants
            Engines.names.select { |name| Engines.traits(name).ractors? } +
              Engines.names.select { |name| Engines.traits(name).adaptive? }.map { |name| "#{name}#{AUTO}" }
          end

          def models = Engines.names - variants
          def workers = (0..)
          def keeps_alive = [true, false]
          def version = VERSION

          def supports?(setup)
            why = Engines.unavailable(engine(setup.model)) if model?(setup.model) && !setup.ruby
            return "engine #{setup.model} #{why}" if why

            super || (installation(setup.ruby).failure if another?(setup.ruby))
          end

          def copies(model, number) = traits(model).ractors? ? "--ractors #{[number, 1].max}" : super

          # Always the same number (see listeners.rb).
          def backlog(_setup) = 1024

          # The mould is also a child of the leader, so titles identify the workers.
          def worker_title = /\Acuttle: worker /

          def thread_name = /\Acuttle \d+\z/

          def threads_of(setup)
            traits = traits(setup.model)
            return (1..1) if auto?(setup.model) || !traits.pooled?

            traits.thread_per_connection? ? (0..) : (1..)
          end

          # Nil for models without a bound: fibers has a fiber for each request, threads 0 a thread for each connection,
          # and auto as many threads as help.
          def slots(setup)
            super unless traits(setup.model).fibers? || setup.threads.zero? || auto?(setup.model)
          end

          # This program's gems. A version manager, or a clone's bundle, keeps them where Ruby doesn't look by itself.
          def environment(setup)
            return installation(setup.ruby).environment if another?(setup.ruby)

            clone = Dir["#{ROOT}/vendor/bundle/ruby/#{RbConfig::CONFIG["ruby_version"]}"]
            { "GEM_PATH" => [*clone, *Gem.path].uniq.join(File::PATH_SEPARATOR) }
          end

          # uri: the address to listen on.
          def command(setup, uri = "tcp://#{address(setup)}")
            root = another?(setup.ruby) ? installation(setup.ruby).root : ROOT
            [*interpreter(setup), "-I#{root}/lib", "#{root}/exe/cuttle", "serve", "-b", uri,
             "-e", "production", *model(setup), *copies(setup.model, setup.workers).split, *pool(setup),
             setup.keep_alive ? "--keep-alive" : "--no-keep-alive", *apart(setup, uri), *setup.flags, setup.app]
          end

          private

          # Under an app's own configuration file: the output stays where it proves the settings, and the files that
          # one server at a time may hold are not those of the app's own server.
          def apart(setup, uri)
            return [] unless configured?(setup)

            name = "#{setup.log}.#{File.basename(uri)}"
            ["--no-quiet", "--redirect-append", "--redirect-stdout", "/dev/stdout", "--redirect-stderr", "/dev/stderr",
             "--pidfile", "#{name}.pid", "--state", "#{name}.state"]
          end

          def configured?(setup)
            ENV.key?("CUTTLE_CONFIG") ||
              (setup.directory && Dir["#{setup.directory}/config/cuttle{,/production}.rb"].any?)
          end

          # The models that use only threads, which every Ruby has.
          def threaded
            Engines.names.reject { |name| Engines.traits(name).then { |traits| traits.fibers? || traits.ractors? } }
          end

          def interpreter(setup) = [setup.ruby || RbConfig.ruby]

          def installation(ruby)
            (@installations ||= {})[ruby] ||= Installation.new(ruby)
          end

          # With --like, no engine is given. The engine that Cuttle prints proves the model.
          def model(setup)
            setup.like ? ["--like", setup.like] : ["--engine", engine(setup.model)]
          end

          def engine(model) = model.delete_suffix(AUTO)
          def auto?(model) = model.end_with?(AUTO)
          def traits(model) = Engines.traits(engine(model))

          def pool(setup)
            return ["-t", "auto"] if auto?(setup.model)

            traits(setup.model).pooled? ? ["-t", "#{setup.threads}:#{setup.threads}"] : []
          end

          def settings(server)
            setup = server.setup
            said = server.output[/^  engine +(\S+)$/, 1]
            [Proof.same("engine", engine(setup.model), said, "as it reports"), (auto(server) if auto?(setup.model)),
             *(setup.threads.zero? || traits(setup.model).ractors? ? [processes(server)] : super)].compact
          end

          def auto(server)
            Proof.same("threads", "auto", server.output[/^  threads +(\S+)/, 1], "as it reports")
          end

          # Ractors are native threads, or several ractors share one.
          def processes(server)
            return super unless traits(server.setup.model).ractors?

            said = server.output[/^  ractors +(\d+)$/, 1].to_i
            Proof.same("ractors", server.setup.processes, said, "as it reports")
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Lab
    module Servers
      module Peers
        # A server that a lab can start. A peer is a class in a file of its own that says
        #
        #   gems              those to install, "name" or "name:requirement", the server's first (Versions says which);
        #                     or package and program, those of Debian
        #   models            names of its concurrency models, where it has several
        #   variants          names of models that are measured only where they are asked for by name, for they are more
        #                     than a model
        #   arguments(setup)  its command line: on 127.0.0.1, in production, without a log of requests, caching nothing
        #   workers, threads  how many it can have, as Ranges; 0 workers: it does not fork
        #   keeps_alive       the habits it can have: [true], [false] or both
        #   backlog(setup)    what it makes its listening socket's; nil where it can't be told
        #   leader_serves?, worker_title, thread_name, own_threads   how its processes and threads are told apart, for
        #                     the proofs
        class Peer
          ANY = (1..).freeze

          include Proofs

          attr_reader :name

          def initialize(name)
            @name = name
          end

          def gems = nil
          def package = nil
          def program = name
          def models = []
          def variants = []
          def workers = (0..0)
          def threads = (1..1)
          def keeps_alive = [true]

          # The backlog that its listening socket is to have; nil where it can't be told one.
          def backlog(_setup) = nil

          # Whether a fiber answers each request, and a thread has any number of them.
          def fibers? = false

          # Whether its first process serves, where one is asked for; otherwise that only watches over others.
          def leader_serves? = false

          # What the processes that run the app have in their titles; nil where they are the leader's children.
          def worker_title = nil

          # What the threads that run the app are called; nil where they have no name, and can only be counted. (Ruby
          # calls a thread that nobody named after the file that made it, in 15 octets.)
          def thread_name = nil

          # Native threads without a name that a process has beside those that run the app.
          def own_threads(_setup) = 1

          # Why it can't be run here, and how it can be had; nil where it can.
          def unavailable
            if gems
              "not installed: cuttle lab peers --install #{name}" unless gem_directory.installed?
            elsif package && !executable
              "not installed: the Debian package #{package} has it"
            end
          end

          def version
            gems ? gem_directory.version : IO.popen([executable, "--version"], err: %i[child out], &:read)[/\d+\.\d+[\w.]*/]
          end

          # Whether it has that one, or a variant of that name; nil is what it has where nobody names one.
          def model?(model)
            model.nil? || models.include?(model) || variants.include?(model)
          end

          # Why it can't be run so; nil where it can.
          def supports?(setup)
            return "#{name} has no model #{setup.model}" unless model?(setup.model)
            return "#{name} is installed for Ruby #{RUBY_VERSION} only" if gems && another?(setup.ruby)
            return "#{name} #{forks? ? "always forks" : "does not fork"}" unless workers.cover?(setup.workers)
            return "#{title(setup)} has #{some_threads(threads_of(setup))}" unless threads_of(setup).cover?(setup.threads)

            "#{name} #{setup.keep_alive ? "closes every" : "can't be told to close each"} connection" unless
              keeps_alive.include?(setup.keep_alive)
          end

          # Requests that the app has at once, over all processes; nil where nothing bounds them.
          def slots(setup)
            setup.processes * setup.threads
          end

          # argv.
          def command(setup)
            words = arguments(setup)
            gems ? [setup.ruby || RbConfig.ruby, "-S", *words] : words
          end

          def environment(_setup)
            gems ? gem_directory.environment : {}
          end

          # Where its gems are.
          def gem_directory
            @gem_directory ||= GemDirectory.new(name, Peers.pin(gems))
          end

          private

          def threads_of(_setup)
            threads
          end

          # A Ruby that is not this one, by whatever path.
          def another?(ruby)
            ruby && File.realpath(ruby) != File.realpath(RbConfig.ruby)
          rescue SystemCallError
            true
          end

          def title(setup)
            [name, setup.model].compact.join(" ")
          end

          def forks?
            workers.begin.positive?
          end

          def some_threads(range)
            range.end == 1 ? "one thread in a process" : "at least #{range.begin} threads"
          end

          def executable
            directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR) | %w[/usr/sbin /sbin]
            directories.map { |directory| "#{directory}/#{program}" }.find { |path| File.executable?(path) }
          end

          def address(setup)
            "127.0.0.1:#{setup.port}"
          end
        end
      end
    end
  end
end

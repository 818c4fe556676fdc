# frozen_string_literal: true

require "open3"
require "rbconfig"

module Cuttle
  module Lab
    module Servers
      module Peers
        # A server that a lab can start. A peer is a class in its own file. It overrides
        #
        #   gems              gems to install, "name" or "name:requirement", the server's first (Peers::TESTED has the
        #                     versions); or package and program, for a Debian package
        #   build_flags       further words for `gem install`
        #   models            names of its concurrency models, if it has several
        #   variants          names of models that are measured only if they are named, because they do more than
        #                     serve the app
        #   arguments(setup)  its command line: on 127.0.0.1, in production, without a request log, without a cache
        #   workers, threads  the numbers it can have, as Ranges; 0 workers: it does not fork
        #   copies(model, number)  its option for that number of workers
        #   bundled?          whether it can serve an app with the app's own bundle; an old server needs an old Rack
        #   keeps_alive       its possible settings of keep-alive: [true], [false] or both
        #   backlog(setup)    the backlog of its listening socket; nil if it has no option for that
        #   leader_serves?, worker_title, thread_name, own_threads   for the proofs: how to find its processes and
        #                     threads
        class Peer
          ANY = (1..)

          include Proofs

          attr_reader :name

          def initialize(name)
            @name = name
          end

          def gems = nil
          def build_flags = []
          def package = nil
          def program = name
          def models = []
          def variants = []
          def workers = (0..0)
          def threads = (1..1)
          def copies(_model, number) = "-w #{number}"
          def bundled? = true
          def keeps_alive = [true]

          # The required backlog of its listening socket; nil if it has no option for that.
          def backlog(_setup) = nil

          # Whether a fiber answers each request, so that a thread may serve any number of them.
          def fibers? = false

          # Whether its first process serves if only one is wanted. Otherwise the first process supervises.
          def leader_serves? = false

          # A pattern in the titles of processes that run the app; nil if these are the leader's children.
          def worker_title = nil

          # The name of the threads that run the app; nil if they have none and can only be counted. (Ruby names an
          # unnamed thread after the file that created it, in 15 octets.)
          def thread_name = nil

          # Unnamed native threads of a process that don't run the app.
          def own_threads(_setup) = 1

          # The oldest Ruby that it runs on.
          def since = "2.0"

          # The first Ruby on which it is known to crash; nil if there is none.
          def crashes_since = nil

          # Why no installation can help here; nil if one can.
          def unsuited
            if older_than?(since)
              "needs Ruby #{since} or newer"
            elsif crashes_since && !older_than?(crashes_since)
              "crashes on Ruby #{crashes_since} and newer"
            end
          end

          # Why it can't run here, and how to get it; nil if it can.
          def unavailable
            if unsuited
              unsuited
            elsif gems
              "not installed: cuttle lab peers --install #{name}" unless gem_directory.installed?
            elsif package && !executable
              "not installed: the Debian package #{package} has it"
            elsif package && !version
              "#{executable} --version fails: is it for another Ruby than #{RUBY_VERSION}?"
            end
          end

          # nil if its program can't say it.
          def version
            gems ? gem_directory.version : stated_version
          end

          # Whether it has that model or variant. nil stands for the model of a peer that has only one.
          def model?(model)
            model.nil? || models.include?(model) || variants.include?(model)
          end

          # Why it can't run with that setup; nil if it can.
          def supports?(setup)
            return "#{name} has no model #{setup.model}" unless model?(setup.model)
            return "#{name} is installed for Ruby #{RUBY_VERSION} only" if gems && another?(setup.ruby)
            return "#{name} #{forks? ? "always forks" : "does not fork"}" unless workers.cover?(setup.workers)

            possible = threads_of(setup)
            return "#{title(setup)} has #{some_threads(possible)}" unless possible.cover?(setup.threads)

            "#{name} #{setup.keep_alive ? "closes every" : "has no option to close each"} connection" unless
              keeps_alive.include?(setup.keep_alive)
          end

          # Requests in the app at once, over all processes; nil if unbounded.
          def slots(setup)
            setup.processes * setup.threads
          end

          # The command line: an Array of words.
          def command(setup)
            words = arguments(setup)
            gems ? [setup.ruby || RbConfig.ruby, "-S", *words] : words
          end

          def environment(_setup)
            gems ? gem_directory.environment : {}
          end

          # The directory of its gems.
          def gem_directory
            @gem_directory ||= GemDirectory.new(name, Peers.pin(gems), build_flags)
          end

          private

          def threads_of(_setup)
            threads
          end

          # Whether +ruby+ is a different Ruby from this one, whatever its path.
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

          def older_than?(version)
            Gem::Version.new(RUBY_VERSION) < Gem::Version.new(version)
          end

          # What a package's program says; nil if it fails, as one in Ruby does under a Ruby that it wasn't made for.
          def stated_version(flag = "--version")
            @stated_version ||= begin
              output, status = Open3.capture2e(executable, flag)
              output[/\d+\.\d+[\w.]*/] if status.success?
            end
          end

          def executable
            Machine.program(program)
          end

          def address(setup)
            "127.0.0.1:#{setup.port}"
          end
        end
      end
    end
  end
end

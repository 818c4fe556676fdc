# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Lab
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
            "not installed: cuttle lab peers --install #{name}" unless home.installed?
          elsif package && !executable
            "not installed: the Debian package #{package} has it"
          end
        end

        def version
          gems ? home.version : IO.popen([executable, "--version"], err: %i[child out], &:read)[/\d+\.\d+[\w.]*/]
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
          return "#{title(setup)} has #{told(threads_of(setup))}" unless threads_of(setup).cover?(setup.threads)

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
          gems ? home.environment : {}
        end

        # Proof each: settings as they are to be seen from outside.
        def proofs(server)
          [port(server), listen_backlog(server), keep_alive(server), *settings(server)]
        end

        # Whether all processes that were asked for are there: some servers answer before that.
        def complete?(server)
          processes(server).proved
        end

        # Where its gems are.
        def home
          @home ||= Home.new(name, Versions.pin(gems))
        end

        private

        # Beside the port and keep-alive.
        def settings(server)
          return [processes(server)] if threads_of(server.setup) == (1..1)

          [processes(server), thread_name ? named_threads(server) : counted_threads(server)]
        end

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

        def told(range)
          range.end == 1 ? "one thread in a process" : "at least #{range.begin} threads"
        end

        def port(server)
          owners = server.tree.listeners(server.port)
          Proof.new("port", server.port, owners.any? ? server.port : nil, owners.any?,
                    "its processes #{owners.join(", ")} have the listening socket")
        end

        # The kernel allows no more than its own limit. What nobody told the server is its own affair: written down.
        def listen_backlog(server)
          wanted = backlog(server.setup)&.clamp(0, Backlog.limit)
          found = Backlog.of(server.port)
          return Proof.seen("backlog", wanted, nil, "ss (iproute2), which would tell, is not here") if found.nil?
          return Proof.seen("backlog", nil, found, "it can't be told one") unless wanted

          Proof.same("backlog", wanted, found, "Send-Q of its socket, by ss")
        end

        def keep_alive(server)
          answers = Server::Probe.answers_on_one_connection(server.port)
          found = answers > 1 if answers.positive?
          Proof.same("keep-alive", server.setup.keep_alive, found, "#{answers} of 2 requests on one connection")
        end

        def processes(server)
          return titled_processes(server) if worker_title

          wanted = leader_serves? && server.setup.processes == 1 ? 0 : server.setup.workers
          Proof.same("workers", wanted, server.tree.children.length,
                     "children of the leader#{", which serves where it is alone" if leader_serves?}")
        end

        def titled_processes(server)
          titles = server.tree.pids.map { |pid| File.read("/proc/#{pid}/cmdline") }
          Proof.same("workers", server.setup.workers, titles.grep(worker_title).length, "processes whose titles say so")
        rescue Errno::ENOENT
          retry # one ended since we looked
        end

        # Threads by that name in each process that has any.
        def named_threads(server)
          counts = server.tree.threads.values.map { |names| named(names).length }.select(&:positive?)
          found = counts.uniq.length == 1 && counts.length == server.setup.processes ? counts.first : nil
          Proof.same("threads", server.setup.threads, found, "native threads whose name is #{thread_name.source}")
        end

        # A native thread begins with the name of who made it: where names have numbers, each counts once.
        def named(names)
          found = names.grep(thread_name)
          found.all?(/\d\z/) ? found.uniq : found
        end

        # In each serving process, those that have no name of their own. The app, and Ruby, may have made some as well.
        def counted_threads(server)
          tree = server.tree
          serving = tree.children.empty? ? [tree.leader] : tree.children
          unnamed = tree.threads.slice(*serving).map { |pid, names| names.count(tree.name(pid)) }.min
          own = own_threads(server.setup)
          Proof.at_least("threads", server.setup.threads, unnamed && (unnamed - own),
                         "at least: native threads of a process without a name, but for #{own} of the server's own")
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

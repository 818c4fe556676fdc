# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # That a server's setting took effect: what was wanted, what was found, and how that was seen. Found is nil where
      # nothing could be seen; proved is nil where there is nothing to be proved, and only written down.
      Proof = Struct.new(:setting, :wanted, :found, :proved, :how) do
        # Proved where what was found is what was wanted.
        def self.same(setting, wanted, found, how)
          new(setting, wanted, found, wanted == found, how)
        end

        # Neither proved nor refuted.
        def self.seen(setting, wanted, found, how)
          new(setting, wanted, found, nil, how)
        end

        # Proved where at least as much was found: a server may have threads of its own beside those of the app.
        def self.at_least(setting, wanted, found, how)
          new(setting, wanted, found, !found.nil? && found >= wanted, how)
        end
      end

      # How a peer's settings are seen from outside. Peer includes this; a peer with other settings replaces #settings.
      module Proofs
        # Proof each: settings as they are to be seen from outside.
        def proofs(server)
          [port(server), listen_backlog(server), keep_alive(server), *settings(server)]
        end

        # Whether all processes that were asked for are there: some servers answer before that.
        def complete?(server)
          processes(server).proved
        end

        private

        # Beside the port and keep-alive.
        def settings(server)
          return [processes(server)] if threads_of(server.setup) == (1..1)

          [processes(server), thread_name ? named_threads(server) : counted_threads(server)]
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
      end

      # How many connections the kernel lets wait for a server to accept them. /proc/net/tcp doesn't say it of a socket
      # that listens; ss (iproute2), which asks the kernel itself, has it as Send-Q.
      module Backlog
        LIMIT = "/proc/sys/net/core/somaxconn"

        module_function

        # Of the sockets that listen on that TCP port, the least; nil where nobody says. ss without the kernel's word says
        # 0.
        def of(port, program: "ss")
          lines = IO.popen([program, "-ltnH", "sport", "=", ":#{port}"], err: File::NULL, &:readlines)
          lines.map { |line| line.split[2].to_i }.select(&:positive?).min
        rescue SystemCallError
          nil
        end

        # What it cuts every backlog down to.
        def limit
          File.read(LIMIT).to_i
        rescue SystemCallError
          Float::INFINITY
        end
      end
    end
  end
end

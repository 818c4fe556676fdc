# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # The proof that a server's setting took effect: the wanted value, the found value, and the method. found is nil
      # if no value could be observed. proved is nil if the value is only recorded.
      Proof = Struct.new(:setting, :wanted, :found, :proved, :how) do
        # Proved if the found value is the wanted one.
        def self.same(setting, wanted, found, how)
          new(setting, wanted, found, wanted == found, how)
        end

        # Records the value without a proof.
        def self.seen(setting, wanted, found, how)
          new(setting, wanted, found, nil, how)
        end

        # Proved if at least the wanted number was found: a server may have further threads of its own.
        def self.at_least(setting, wanted, found, how)
          new(setting, wanted, found, !found.nil? && found >= wanted, how)
        end
      end

      # Proves a peer's settings from outside. Peer includes this. A peer with other settings overrides #settings.
      module Proofs
        # An Array of Proof.
        def proofs(server)
          [port(server), listen_backlog(server), keep_alive(server), *settings(server)]
        end

        # Whether all its processes have started. Some servers answer before that.
        def complete?(server)
          processes(server).proved
        end

        private

        # Proofs of settings other than port, backlog and keep-alive.
        def settings(server)
          return [processes(server)] if threads_of(server.setup) == (1..1)

          [processes(server), thread_name ? named_threads(server) : counted_threads(server)]
        end

        def port(server)
          owners = server.tree.listeners(server.port)
          Proof.new("port", server.port, owners.any? ? server.port : nil, owners.any?,
                    "its processes #{owners.join(", ")} have the listening socket")
        end

        # The kernel reduces a backlog to its own limit. If a server has no option for it, its backlog is only recorded.
        def listen_backlog(server)
          wanted = backlog(server.setup)&.clamp(0, Backlog.limit)
          found = Backlog.of(server.port)
          return Proof.seen("backlog", wanted, nil, "ss (iproute2), which shows it, is not installed") if found.nil?
          return Proof.seen("backlog", nil, found, "it has no option for it") unless wanted

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
          Proof.same("workers", server.setup.workers, titled(server).length, "processes whose titles say so")
        end

        def titled(server)
          server.tree.command_lines.select { |_, title| title.match?(worker_title) }.keys
        end

        # The number of threads with that name in each process that has any. If workers have titles, only workers count,
        # because a supervisor may have such threads for a control listener.
        def named_threads(server)
          threads = server.tree.threads
          threads = threads.slice(*titled(server)) if worker_title && server.setup.workers.positive?
          counts = threads.values.map { |names| named(names).length }.select(&:positive?)
          found = counts.uniq.length == 1 && counts.length == server.setup.processes ? counts.first : nil
          Proof.same("threads", server.setup.threads, found, "native threads whose name is #{thread_name.source}")
        end

        # A new native thread first has the name of the thread that created it. So numbered names count only once.
        def named(names)
          found = names.grep(thread_name)
          found.all?(/\d\z/) ? found.uniq : found
        end

        # The number of unnamed threads in each serving process. The app and Ruby may have created some of them.
        def counted_threads(server)
          tree = server.tree
          serving = tree.children.empty? ? [tree.leader] : tree.children
          unnamed = tree.threads.slice(*serving).map { |pid, names| names.count(tree.name(pid)) }.min
          own = own_threads(server.setup)
          Proof.at_least("threads", server.setup.threads, unnamed && (unnamed - own),
                         "at least: native threads of a process without a name, but for #{own} of the server's own")
        end
      end

      # The number of connections that may wait until a server accepts them. /proc/net/tcp does not show it for a
      # listening socket. ss (iproute2) asks the kernel, and shows it as Send-Q.
      module Backlog
        LIMIT = "/proc/sys/net/core/somaxconn"

        module_function

        # The smallest backlog of the sockets that listen on that TCP port, or nil if unknown. Without the kernel's
        # answer, ss prints 0.
        def of(port, program: "ss")
          lines = IO.popen([program, "-ltnH", "sport", "=", ":#{port}"], err: File::NULL, &:readlines)
          lines.map { |line| line.split[2].to_i }.select(&:positive?).min
        rescue SystemCallError
          nil
        end

        # The kernel's limit for every backlog.
        def limit
          File.read(LIMIT).to_i
        rescue SystemCallError
          Float::INFINITY
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # Counts the database connections that a server's processes hold. The lab's own PostgreSQL reports them. For other
      # databases, the kernel lists the sockets: those to a database's usual port or Unix socket count.
      class Databases
        # PostgreSQL, PgBouncer, MySQL, SQL Server, Oracle, MongoDB
        PORTS = [5432, 6432, 3306, 1433, 1521, 27_017].freeze
        SOCKET = /\.s\.PGSQL\.|mysql|mariadb/i
        BACKENDS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' " \
                   "AND pid <> pg_backend_pid()"
        # Fields of a line of /proc/net/tcp, and the state of a connection.
        REMOTE, STATE, INODE, ESTABLISHED = 2, 3, 9, "01"
        # Fields of a line of `ss -xH`.
        LOCAL_INODE, PEER_INODE, LOCAL_PATH = 5, 7, 4

        # server: a Lab::Servers::Server. postgres: the lab's service, or nil.
        def initialize(server, postgres)
          @server = server
          @postgres = postgres
        end

        # nil if there are none, or if they can't be seen.
        def count
          found = @postgres ? @postgres.run(BACKENDS).to_i : (tcp | unix).length
          found if found.positive?
        rescue Lab::Failure, SystemCallError
          nil
        end

        private

        # Inodes of the processes' sockets.
        def own
          paths = @server.tree.pids.flat_map { |pid| Dir["/proc/#{pid}/fd/*"] }
          paths.filter_map do |path|
            File.readlink(path)[/\Asocket:\[(\d+)\]\z/, 1]
          rescue SystemCallError
            nil # it was closed meanwhile
          end.uniq
        end

        def tcp
          # Most lines may be of connections that have ended.
          lines = Dir["/proc/net/tcp{,6}"].flat_map { |path| File.foreach(path).grep(/ #{ESTABLISHED} /o) }
          to_databases = lines.map(&:split).select do |fields|
            fields[STATE] == ESTABLISHED && PORTS.include?(fields[REMOTE].split(":").last.to_i(16))
          end
          to_databases.map { |fields| fields[INODE] } & own
        end

        # A client's end of a Unix socket has no path. ss (iproute2) finds the other end, which has one.
        def unix
          lines = IO.popen(%w[ss -xH], err: File::NULL, &:readlines).map { |line| line.scrub.split }
          servers = lines.select { |fields| SOCKET.match?(fields[LOCAL_PATH].to_s) }
          servers.map { |fields| fields[PEER_INODE] } & own
        rescue SystemCallError
          []
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
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

# frozen_string_literal: true

require "socket"

module Cuttle
  class Cluster
    # Gives a worker the pipe of a mould's commands, so that the worker becomes that mould. It is a pair of sockets that
    # every process of the cluster has. A message is the pid that it is for, with the pipe's descriptor (SCM_RIGHTS,
    # unix(7)). After it the supervisor sends that worker a signal (Signals::SUCCEED).
    class Handover
      # Octets of a message.
      ROOM = 32

      def initialize
        @ours, @theirs = UNIXSocket.pair(:DGRAM)
      end

      # Offers +commands+, the reading end of the pipe, to the worker +pid+. An earlier offer that no worker took is
      # void.
      def offer(pid, commands)
        withdraw
        @ours.sendmsg_nonblock(pid.to_s, 0, nil, Socket::AncillaryData.unix_rights(commands))
      end

      # In a worker: takes the pipe that is for this process. Returns nil if there is none. Raises Errno::EMFILE if
      # there is one, and the process has no descriptor left for it.
      def accept
        return unless offered == Process.pid

        _, _, _, control = @theirs.recvmsg_nonblock(ROOM, 0, scm_rights: true, exception: false)
        control&.unix_rights&.first or raise Errno::EMFILE
      end

      def close
        [@ours, @theirs].each(&:close)
      end

      private

      # The pid that the next message is for; nil if there is none.
      def offered
        text, = @theirs.recvmsg_nonblock(ROOM, Socket::MSG_PEEK, exception: false)
        text.to_i if text.is_a?(String)
      end

      # Without scm_rights the descriptor of a message is closed.
      def withdraw
        @theirs.recvmsg_nonblock(ROOM, exception: false) while offered
      end
    end
  end
end

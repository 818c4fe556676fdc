# frozen_string_literal: true

module Cuttle
  class Cluster
    # The mould on a system without subreapers: the supervisor itself loads the app and forks the workers. So there is
    # no phased restart, and USR1 restarts the whole program.
    class Inline
      def initialize(forge)
        @forge = forge
        @forge.load
      end

      def pid = nil
      def phase = 0
      def directory = nil
      def loaded? = true
      def closed? = false
      def dead? = false
      def deadline = nil
      def kill_if_overdue(_now) = nil
      def hangs(_now) = nil

      # Forks a worker for +slot+.
      def order(slot)
        @forge.cast_here(slot.index, slot.place)
      end

      # Does nothing: the supervisor is the only process, and opens its files itself.
      def reopen; end
    end
  end
end

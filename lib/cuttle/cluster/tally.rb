# frozen_string_literal: true

module Cuttle
  class Cluster
    # The sums of what the workers of a supervisor have counted since its start, including workers that have ended. It
    # adds the increase from each sign of life to the next, so no sum ever goes backwards. The supervisor writes. Any
    # thread may read, because each Hash is replaced and never changed.
    class Tally
      # The figures that are counters; the others describe the present moment.
      COUNTERS = %i[requests_count accepted dropped refused relayed stuck unproxied].freeze

      # {counter => sum}; and by the index of workers: requests, and how many were started.
      attr_reader :totals, :requests, :started

      # How many workers ended unexpectedly.
      attr_reader :died

      def initialize
        @totals = COUNTERS.to_h { |name| [name, 0] }.freeze
        @requests = {}.freeze
        @started = {}.freeze
        @died = 0
        @last = {}
      end

      # How often a worker of that index was started again; nil if none was started.
      def restarts(index) = @started[index]&.pred

      # A worker was forked. Elders (index nil) don't count.
      def began(pid, index)
        @last[pid] = {}
        @started = add(@started, index => 1) if index
      end

      # A worker told its +figures+.
      def note(pid, index, figures)
        last = @last[pid] or return
        news = COUNTERS.to_h { |name| [name, [figures.fetch(name, 0) - last.fetch(name, 0), 0].max] }
        @last[pid] = last.merge(figures.slice(*COUNTERS)) { |_, *both| both.max } # an older one may arrive later
        @totals = add(@totals, news)
        @requests = add(@requests, index => news[:requests_count]) if index
      end

      # A worker has ended. +died+: unexpectedly.
      def ended(pid, died:)
        @last.delete(pid)
        @died += 1 if died
      end

      private

      def add(sums, news)
        sums.merge(news) { |_, sum, more| sum + more }.freeze
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Engines
    # What an engine is, for those who configure, start, compare or test one: they read this, and ask no engine its
    # name. A class has its own as TRAITS; Engines.traits(name) is that. A trait that isn't named is false.
    #
    #   evented?                an idle connection costs no thread: the source is a Poller (otherwise an Acceptor)
    #   pooled?                 threads run the app, as many as --threads says; without it, one thread does
    #   thread_per_connection?  --threads 0 is possible
    #   fibers?                 a fiber runs the app for each request, and --max-fibers bounds them
    #   inline?                 while the app runs, nothing else does in that process
    Traits = Struct.new(:evented, :pooled, :thread_per_connection, :fibers, keyword_init: true) do
      def initialize(**given)
        super
        members.each { |name| self[name] = self[name] ? true : false }
        freeze
      end

      members.each { |name| alias_method :"#{name}?", name }

      def inline?
        !pooled? && !fibers?
      end

      # Requests that one process may have in the app at once; Infinity where nothing bounds them. +threads+ is a Range.
      def capacity(threads:, max_fibers:)
        return max_fibers if fibers?
        return 1 unless pooled?

        threads.max.zero? ? Float::INFINITY : threads.max
      end
    end
  end
end

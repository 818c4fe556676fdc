# frozen_string_literal: true

module Cuttle
  module Engines
    # The properties of an engine, for code that configures, starts, compares or tests one. Such code reads the traits
    # and never checks an engine's name. A class has its traits in TRAITS; Engines.traits(name) returns them. A trait
    # that isn't given is false.
    #
    #   evented?                an idle connection costs no thread: the source is a Poller (otherwise an Acceptor)
    #   pooled?                 as many threads run the app as --threads says; otherwise one thread does
    #   thread_per_connection?  --threads 0 is possible
    #   adaptive?               --threads auto is possible
    #   fibers?                 a fiber runs the app for each request, and --max-fibers limits them
    #   ractors?                several ractors of a process run the app, which must be shareable
    #   inline?                 while the app runs, nothing else does in that process
    Traits = Struct.new(:evented, :pooled, :thread_per_connection, :adaptive, :fibers, :ractors,
                        keyword_init: true) do
      def initialize(**given)
        super
        members.each { |name| self[name] = self[name] ? true : false }
        freeze
      end

      members.each { |name| alias_method :"#{name}?", name }

      def inline?
        !pooled? && !fibers?
      end

      # The number of requests that one process may have in the app at the same time; Infinity if there is no limit.
      # +threads+ is a Range.
      def capacity(threads:, max_fibers:, ractors: 1)
        return max_fibers if fibers?
        return 1 unless pooled?

        threads.max.zero? ? Float::INFINITY : threads.max * ractors
      end
    end
  end
end

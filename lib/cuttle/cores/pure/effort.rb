# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What a request's thread spends while it runs the app, in nanoseconds. Ruby doesn't say which thread waits for
      # the GVL, so that time counts as waiting. It reports the garbage collections of all threads as one sum.
      class Effort
        CPU = defined?(Process::CLOCK_THREAD_CPUTIME_ID) && RUBY_ENGINE != "jruby"
        GARBAGE = GC.respond_to?(:total_time)

        # Begins now, in the calling thread. +alone+: no other fiber runs a request in this thread meanwhile.
        def initialize(alone)
          @thread = Thread.current
          @cpu = cpu_time if alone && CPU
          @garbage = GC.total_time if GARBAGE
        end

        # What was spent until now; {} if the calling thread is another one.
        def spent
          return {} unless @thread.equal?(Thread.current)

          garbage = GC.total_time - @garbage if @garbage
          { cpu: @cpu && [cpu_time - @cpu - garbage.to_i, 0].max, gc: garbage }.compact
        end

        private

        def cpu_time
          Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Cluster
    # Whether a process that was a worker may fork workers. A fork copies only the thread that forks, so in each worker
    # the work of other threads would stay half done.
    module Solitude
      # The thread of Ruby's Timeout, which begins again in a forked process.
      TIMEOUT = :"\x00__detached_thread__"

      class << self
        # Raises Error if the app has a thread.
        def check
          return if strangers.empty?

          one = strangers.first
          raise Error, "refork: worker #{Process.pid} can't become the mould, because the app has a thread there: " \
                       "#{one.name || one.inspect[/ (\S+:\d+)/, 1] || one.inspect}; end it in before_refork"
        end

        private

        # As in Puma, a thread declares with the variable fork_safe that it survives a fork. Active Record's reaper
        # does.
        def strangers
          Thread.list.reject do |thread|
            thread == Thread.current || thread.name.to_s.start_with?("cuttle ") ||
              thread.thread_variable_get(:fork_safe) || thread.thread_variable_get(TIMEOUT)
          end
        end
      end
    end
  end
end

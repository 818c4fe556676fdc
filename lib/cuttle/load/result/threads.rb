# frozen_string_literal: true

module Cuttle
  module Load
    class Result
      # What the generator's threads say: about themselves, their connections, and the requests that they left.
      module Threads
        # Requests without an answer when the run was stopped.
        def unfinished
          threads.sum { |thread| thread[:unfinished] }
        end

        # Requests of a schedule that were not sent when the run was stopped, although their time had come.
        def overdue
          threads.sum { |thread| thread[:overdue].to_i }
        end

        # How long the unfinished and overdue requests had waited at most, in nanoseconds. They have no response times.
        def longest_wait
          threads.map { |thread| thread[:longest_wait].to_i }.max || 0
        end

        # Requests that were sent once more on a new connection, because the server had closed a kept one.
        def retried
          threads.sum { |thread| thread[:retried].to_i }
        end

        def opened
          threads.sum { |thread| thread[:opened] }
        end

        # Whether a request had to wait because all connections of its thread were in use.
        def full?
          threads.any? { |thread| thread[:full] }
        end

        # The reason of the first failed connection, or nil.
        def connect_error
          threads.filter_map { |thread| thread[:connect_error] }.first
        end

        # The reason of the first connection that this machine could not open, or nil.
        def local_error
          threads.filter_map { |thread| thread[:local_error] }.first
        end

        # CPU use of the busiest thread, 0 to 1.
        def client_cpu
          threads.map { |thread| thread[:wall].positive? ? thread[:cpu].fdiv(thread[:wall]) : 0.0 }.max || 0.0
        end

        # The share of time, 0 to 1, in which a thread was ready to run but had no core, for the thread with the largest
        # share; nil if unknown.
        def waiting
          threads.filter_map { |thread| thread[:waited]&.fdiv(thread[:wall]) if thread[:wall].positive? }.max
        end

        # The longest time in which requests were in flight and no thread had a response: [from, to] in seconds, or nil
        # if none lasted 50 ms.
        def longest_gap
          common = threads.map { |thread| thread[:gaps] }.reduce { |some, others| overlaps(some, others) } || []
          longest = common.max_by { |from, to| to - from }
          longest&.map { |time| time / 1e9 }
        end

        private

        def overlaps(some, others)
          some.product(others).filter_map do |(from, to), (other_from, other_to)|
            both = [[from, other_from].max, [to, other_to].min]
            both if both[0] < both[1]
          end
        end
      end
    end
  end
end

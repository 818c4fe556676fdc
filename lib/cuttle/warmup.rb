# frozen_string_literal: true

module Cuttle
  # Prepares the memory of a process that has loaded the app, before it forks workers or serves: what is garbage goes,
  # and what is left counts as old, so that the first collections of a worker neither look at it nor write to its pages,
  # which workers share until one writes. Free pages go back to the system, and Ruby 3.3 and later compact the heap
  # first.
  module Warmup
    # Objects that outlive so many collections are old.
    OLD = 3

    # +core+ is the setting. Takes a major collection or several: from some milliseconds to a second for a large app.
    def self.call(core)
      return Process.warmup if Process.respond_to?(:warmup)
      return unless RUBY_ENGINE == "ruby"

      # Older Rubies compact too, but some extensions of that time keep addresses that they don't tell.
      OLD.times { GC.start }
      Cores.fetch(core).trim_memory
    end
  end
end

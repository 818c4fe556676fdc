# frozen_string_literal: true

module Cuttle
  # Prepares the memory of a process that has loaded the app, before it forks workers or serves. It collects garbage,
  # and makes the remaining objects old. So a worker's first collections neither visit these objects nor write to their
  # pages, which workers share until one writes. Free pages go back to the system, and Ruby 3.3 and later compact the
  # heap first.
  module Warmup
    # Objects that survive this many collections are old.
    OLD = 3

    # +core+ is the setting. Makes one or more major collections, which take from some milliseconds to a second for a
    # large app.
    def self.call(core)
      return Process.warmup if Process.respond_to?(:warmup)
      return unless RUBY_ENGINE == "ruby"

      # Older Rubies can compact too, but some extensions of that time keep addresses that Ruby doesn't know.
      OLD.times { GC.start }
      Cores.fetch(core).trim_memory
    end
  end
end

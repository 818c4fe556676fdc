# frozen_string_literal: true

begin
  require "nio"
rescue LoadError, NameError # it asks RubyGems for the platform, which may be turned off
  nil # IO.select does it, see Selectors
end

module Cuttle
  module Cores
    module Pure
      # How a Poller's thread waits for sockets: back ends with one method, #wait(readers, writers, seconds), which
      # returns what is ready as [readers, writers], or nil after +seconds+. One thread alone uses it.
      module Selectors
        # IO.select. On Linux it takes any descriptor; elsewhere it may take none beyond 1023 (see .exceeds?).
        class Select
          def wait(readers, writers, seconds)
            IO.select(readers, writers, nil, seconds)
          end
        end

        # nio4r, where that gem is installed: epoll or kqueue, which take any number of descriptors.
        class Nio
          def initialize
            @selector = NIO::Selector.new
            @monitors = {}.compare_by_identity
          end

          def wait(readers, writers, seconds)
            settle(interests(readers, writers))
            found = @selector.select(seconds) or return
            [found.select(&:readable?).map(&:io), found.select(&:writable?).map(&:io)]
          end

          private

          def interests(readers, writers)
            wanted = readers.to_h { |io| [io, :r] }.compare_by_identity
            writers.each { |io| wanted[io] = wanted[io] ? :rw : :w }
            wanted
          end

          # What is over goes first, because a new descriptor may have the number of an old one.
          def settle(wanted)
            (@monitors.keys - wanted.keys).each { |io| @selector.deregister(io) && @monitors.delete(io) }
            wanted.each do |io, interest|
              monitor = @monitors[io]
              if monitor.nil? then @monitors[io] = @selector.register(io, interest)
              elsif monitor.interests != interest then monitor.interests = interest
              end
            end
          end
        end

        TABLE = { **(defined?(NIO::Selector) ? { "nio4r" => Nio } : {}), "select" => Select }.freeze
        SELECTABLE = 1_024 # descriptors that select takes on every system (FD_SETSIZE)

        class << self
          # The name of the back end to use: the first, or what CUTTLE_BACKEND says. Raises ArgumentError.
          def choose
            name = ENV.fetch("CUTTLE_BACKEND", TABLE.keys.first)
            return name if TABLE.key?(name)

            raise ArgumentError, "CUTTLE_BACKEND=#{name}: the core in Ruby has no such back end here"
          end

          # Whether +io+ has a descriptor that select may not take.
          def exceeds?(io)
            !io.closed? && io.fileno >= SELECTABLE
          end
        end
      end
    end
  end
end

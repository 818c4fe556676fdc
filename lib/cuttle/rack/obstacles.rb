# frozen_string_literal: true

module Cuttle
  module Rack
    # Reports what requests attempt although Ruby forbids it in ractors. Each line is printed once in a process, however
    # many requests and ractors cause it. Each ractor passes on lines that are new to it, and a thread of the
    # main ractor prints those that are new to all.
    module Obstacles
      # The last lines, so that none is printed twice. Their number is limited, because a line may name an object by its
      # address. Threads of one ractor share it.
      class Known
        MOST = 100

        def initialize
          @lines = {}
          @lock = Mutex.new
        end

        # Returns whether +line+ is new.
        def add?(line)
          @lock.synchronize do
            new = @lines.delete(line).nil?
            @lines[line] = true
            @lines.shift if @lines.size > MOST
            new
          end
        end
      end

      class << self
        # Call it in the main ractor, before others serve. Prints on $stderr.
        def listen
          return if @listener&.alive?

          @port = Ractor::Port.new
          @listener = Thread.new(@port, Known.new) { |port, known| loop { say(port.receive, known) } }
          @listener.name = "cuttle obstacles"
        end

        # From any ractor, once the main one listens.
        def tell(line)
          @port << line if Ractor.store_if_absent(:cuttle_obstacles) { Known.new }.add?(line)
        end

        private

        def say(line, known)
          Cuttle.report(line) if known.add?(line)
        end
      end
    end
  end
end

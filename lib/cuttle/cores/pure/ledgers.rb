# frozen_string_literal: true

require "tempfile"

module Cuttle
  module Cores
    module Pure
      # The ledgers of all places of a scoreboard (see Cuttle::Ledger), in memory that this process shares with the
      # processes that it forks afterwards: a mapped file without a name. A page of it takes memory when something is
      # written to it. If Ruby can't map files (JRuby, which can't fork either), it is memory of this process only.
      #
      # Each process writes only to its own place.
      class Ledgers
        WIDTH = 8 # octets of a number
        ROW = Ledger::BOUNDS.size + 1 # a phase's numbers: the sum of its times, then its buckets
        PLACE = ROW * Ledger::PHASES.size * WIDTH
        private_constant :WIDTH, :ROW, :PLACE

        # The bucket of a time in nanoseconds.
        def self.bucket(nanoseconds)
          return 0 if nanoseconds <= 1 << Ledger::LEAST
          return Ledger::BOUNDS.size - 1 if nanoseconds > 1 << Ledger::MOST

          below = nanoseconds - 1 # so that a bound belongs to the bucket that it ends
          power = below.bit_length - 1
          1 + (power - Ledger::LEAST) * Ledger::PARTS + ((below >> (power - 4)) & (Ledger::PARTS - 1))
        end

        def initialize(places)
          @places = places
          @lock = Mutex.new
          @start = places # after one octet per place: whether it was ever taken
          @memory = quietly { map(@start + places * PLACE) } if defined?(IO::Buffer)
          @numbers = Hash.new(0) unless @memory
        end

        # Marks this place as taken by a process.
        def take(place)
          @memory ? @memory.set_value(:U8, place, 1) : @numbers[place] = 1
        end

        # Counts a request at a place. +phases+: nanoseconds by phase.
        def add(place, phases)
          @lock.synchronize do
            phases.each do |phase, nanoseconds|
              row = start(place, phase)
              increase(row, nanoseconds)
              increase(row + (1 + Ledgers.bucket(nanoseconds)) * WIDTH, 1)
            end
          end
        end

        # The sum of the ledgers of these places, without the phases that this core can't measure.
        def read(places)
          (Ledger::PHASES - [:gvl]).to_h do |phase|
            rows = places.filter_map { |place| row(place, phase) if taken?(place) }
            sum, *buckets = rows.inject { |one, other| one.zip(other).map(&:sum) } || Array.new(ROW, 0)
            [phase, { count: buckets.sum, sum: sum, buckets: buckets }]
          end
        end

        private

        # Ruby 3 warns that IO::Buffer is experimental, which an operator can't act on.
        def quietly
          before = Warning[:experimental]
          Warning[:experimental] = false
          yield
        ensure
          Warning[:experimental] = before
        end

        def map(size)
          file = Tempfile.create("cuttle")
          File.unlink(file.path)
          file.truncate(size)
          IO::Buffer.map(file, size)
        rescue SystemCallError
          IO::Buffer.new(size) # no directory for the file: processes don't share the memory
        ensure
          file&.close
        end

        # A place that no process took is not read, because reading would allocate its memory.
        def taken?(place)
          (@memory ? @memory.get_value(:U8, place) : @numbers[place]) == 1
        end

        # The offset of a phase's numbers.
        def start(place, phase)
          @start + place * PLACE + Ledger::PHASES.index(phase) * ROW * WIDTH
        end

        def increase(offset, by)
          return @numbers[offset] += by unless @memory

          @memory.set_value(:u64, offset, @memory.get_value(:u64, offset) + by)
        end

        def row(place, phase)
          start = start(place, phase)
          return @memory.get_string(start, ROW * WIDTH).unpack("Q<*") if @memory

          Array.new(ROW) { |number| @numbers[start + number * WIDTH] }
        end
      end
    end
  end
end

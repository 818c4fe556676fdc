# frozen_string_literal: true

module Cuttle
  module Lab
    class Results
      # A JSON object of the results file, with a reader for each key that this version knows. [] reads any key, so keys
      # of later versions are not lost. Frozen throughout; equal by content. Nested Hashes have String keys.
      class Record
        # Returns a class of records with readers for +keys+.
        def self.of(*keys)
          Class.new(self) do
            keys.map(&:name).each { |key| define_method(key) { @hash[key] } }
          end
        end

        # +hash+ has String keys, as JSON does.
        def initialize(hash)
          @hash = hash.freeze
          freeze
        end

        def [](key)
          @hash[key.to_s]
        end

        # The Hash as it is in the file.
        def to_h
          @hash
        end

        def ==(other)
          other.class == self.class && other.to_h == to_h
        end
        alias eql? ==

        def hash
          @hash.hash
        end
      end

      # control_of: the id of the configuration that this one repeats unchanged, or nil. slots: requests in the app at
      # once, over all processes; nil if unbounded. environment: variables for this configuration only, or nil. like:
      # the server whose defaults Cuttle uses, or nil. flags: further options of `cuttle serve`. copy: 2, 3, … if it
      # repeats another configuration on purpose. base: configurations with the same base are compared, and start one
      # after the other.
      Configuration = Record.of(:id, :name, :server, :model, :workers, :threads, :keep_alive, :ruby, :version, :slots,
                                :control_of, :environment, :like, :flags, :copy, :base)
      # These are nil unless this load has its own: path; requests, their number in place of a duration; delay and
      # bandwidth of the network, in seconds and octets per second each way; tester, the program that sends them;
      # octets, the required size of each response's body; least, seconds that a run of requests takes at least; trial,
      # a name of Runner's trials.
      class LoadSpec < Record.of(:id, :name, :loop, :connections, :rate, :poisson, :keep_alive, :path, :requests,
                                 :delay, :bandwidth, :tester, :octets, :least, :trial)
        # Whether requests come at a fixed rate. Then the server's response times are compared, not its rate.
        def open?
          self.loop == "open"
        end
      end
      # A configuration that could not be measured, and why.
      Missing = Record.of(:configuration, :reason)
      # A configuration that the lab stopped measuring after round +block+ to stay within its budget.
      LeftOut = Record.of(:configuration, :block, :at, :reason)
      # A run without a result.
      RunFailure = Record.of(:configuration, :load, :block, :at, :reason)
      Warning = Record.of(:at, :name, :text, :advice)

      # A run: one start of a server under one load, in one round. Statements about a configuration need several runs.
      # Times are in seconds, sizes in octets. ms has response times in milliseconds ("p99" => nil if too few responses
      # lie beyond). server has the costs ("cpu_us" for each response, "pss" by process, …). block is the number of the
      # round, from 0. marks are the load generator's warnings, warnings the lab's.
      class Run < Record.of(:configuration, :load, :block, :order, :at, :valid, :reasons, :boot, :proof, :steady, :rate,
                            :responses, :sent, :elapsed, :ms, :server, :load_cpu, :marks, :windows, :warnings)
        # Whether every setting was proved and nothing spoiled the run. Otherwise reasons lists what did.
        def valid?
          valid == true
        end

        # The key of a run: [configuration, load, round].
        def key
          [configuration, load, block]
        end

        # Failed requests by kind. Empty if there was no answer.
        def errors
          @hash["errors"] || {}
        end

        def failures
          errors.values.compact.sum
        end

        # A response time in milliseconds, or nil. +name+ is "p50", "p99", "mean", …
        def time(name)
          ms && ms[name]
        end

        # A new Load::Histogram of the response times in nanoseconds, or nil.
        def histogram
          @hash["histogram"] && Load::Histograms.load(@hash["histogram"])
        end
      end
    end
  end
end

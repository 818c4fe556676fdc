# frozen_string_literal: true

module Cuttle
  module Lab
    class Results
      # A JSON object of the results file, with a reader for each of its known keys. Unknown ones (of later versions)
      # are at []. Frozen throughout; equal by content. Hashes within keep their keys as Strings.
      class Record
        # A class of records with readers for +keys+.
        def self.of(*keys)
          Class.new(self) do
            keys.each { |key| define_method(key) { @hash[key.to_s] } }
          end
        end

        # +hash+: keys Strings, as JSON has them.
        def initialize(hash)
          @hash = hash.freeze
          freeze
        end

        def [](key)
          @hash[key.to_s]
        end

        # As it is in the file.
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
      # once, over all processes; nil: unbounded.
      # environment: variables that the app has under this one alone; nil: none. like: the server whose habits ours
      # takes on; nil: its own. flags: of ours, further ones of its command line. copy: 2 and so on where it is the same as
      # another one, on purpose.
      Configuration = Record.of(:id, :name, :server, :model, :workers, :threads, :keep_alive, :ruby, :version, :slots,
                                :control_of, :environment, :like, :flags, :copy)
      # Under this one alone, nil: as for all. path: what is asked for; requests: how many, instead of a time; delay,
      # bandwidth: of the network, seconds and octets a second each way; tester: the program that asks.
      class LoadSpec < Record.of(:id, :name, :loop, :connections, :rate, :poisson, :keep_alive, :path, :requests, :delay,
                                 :bandwidth, :tester)
        # Sent at a rate, whatever the server does: then not its rate but its times are its own.
        def open?
          self.loop == "open"
        end
      end
      # A configuration that was never measured, and why.
      Missing = Record.of(:configuration, :reason)
      # A run that came to nothing.
      RunFailure = Record.of(:configuration, :load, :block, :at, :reason)
      Warning = Record.of(:at, :name, :text, :advice)

      # A run: one start of a server, under one load, in one block. What can be said of a configuration is said from
      # several of these. Times are in seconds, sizes in octets; ms has response times in milliseconds ("p99" => nil
      # where too few lie beyond); server has what it cost ("cpu_us" a response, "pss" by process, …).
      class Run < Record.of(:configuration, :load, :block, :order, :at, :valid, :reasons, :boot, :proof, :steady, :rate,
                            :responses, :sent, :elapsed, :ms, :server, :load_cpu, :marks, :windows, :warnings)
        # Whether every setting was proved and nothing spoiled it; else reasons says what did.
        def valid?
          valid == true
        end

        # What a run is known by: [configuration, load, block].
        def key
          [configuration, load, block]
        end

        # Counts by kind; none where there was no answer to count.
        def errors
          @hash["errors"] || {}
        end

        def failures
          errors.values.compact.sum
        end

        # Milliseconds, or nil: +name+ is "p50", "p99", "mean", …
        def time(name)
          ms && ms[name]
        end

        # Response times in nanoseconds, a Load::Histogram of one's own; or nil.
        def histogram
          @hash["histogram"] && Load::Histograms.load(@hash["histogram"])
        end
      end
    end
  end
end

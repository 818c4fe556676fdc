# frozen_string_literal: true

module Cuttle
  module Lab
    # A run: one start of a server, under one load, in one block. What can be said of a configuration is said from
    # several of these. Times are in seconds, sizes in octets; ms has response times in milliseconds ("p99" => nil
    # where too few lie beyond); server has what it cost ("cpu_us" a response, "pss" by process, …).
    class Run < Record.of(:configuration, :load, :block, :order, :at, :valid, :reasons, :boot, :proof, :steady, :rate,
                          :responses, :sent, :elapsed, :ms, :server, :load_cpu, :marks, :windows, :warnings)
      autoload :Shape, "cuttle/lab/run/shape"

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

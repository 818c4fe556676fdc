# frozen_string_literal: true

require "json"

module Cuttle
  module Tuner
    # What is known of an app on a machine. Frozen; kept as one JSON object with these keys. Times are seconds, sizes
    # octets. Only "entries" is required. nil was not measured, and the model works without it.
    #
    #   schema       "cuttle-profile/1"
    #   id, taken_at, command
    #   app          { "name", "path" }
    #   environment  the machine: Lab::Machine.facts; "server_ruby", the version of the server's Ruby
    #   entries      the request mix: an Entry for each kind
    #   overheads    engine => seconds of CPU time of a request outside the app
    #   scaling      [[processes that compute at once, speed of each, 1.0 alone], …]
    #   sharing      how many times as much CPU time a request takes while more processes compute than there are cores
    #   contention   seconds of CPU time that each further busy thread of a process adds to a request (the GVL's cost)
    #   memory       { "base", "worker", "thread", "alone" }: PSS of supervisor and mould; of each worker with one
    #                thread; of each further thread; octets of a process with one thread that does not fork
    #   boot         seconds from the start to the first answer
    #   connections  { "process", "thread" }: database connections that each process and each thread holds; or nil. With
    #                a pool of a fixed size also "most", which a process holds at most, and "full": whether that limited
    #                the run with several threads
    #   unfit        engines that can't serve the app => why: their runs failed, twice if there was time
    #   corrections  [{ "setting", "demand", "forecast", "measured" }, …] from verifications; the forecast includes the
    #                capacity, and "scaled" since open loops are simulated at a rate that follows the measured capacity
    #   notes        sentences for people: what could not be measured, and why
    class Profile
      SCHEMA = "cuttle-profile/1"
      FILE = "profile.json"
      KEYS = %w[schema id taken_at command app environment entries overheads scaling sharing contention memory boot
                connections unfit corrections notes].freeze

      # One kind of request. weight: its share of the mix (positive; only the ratios of weights matter). cpu, wait:
      # distributions of the CPU time in Ruby and of the waiting time: seconds in ascending order at evenly spaced
      # quantiles (one number: a constant). waits: the average number of waits of a request. unlocked: the share of the
      # CPU time without the GVL, 0 to 1. correlation: the rank correlation of CPU time and waiting time, -1 to 1 (0:
      # independent). samples: the number of measured requests, nil if unknown.
      Entry = Struct.new(:name, :weight, :cpu, :wait, :waits, :unlocked, :correlation, :samples,
                         keyword_init: true) do
        def initialize(name:, cpu:, wait:, weight: 1.0, waits: nil, unlocked: 0.0, correlation: 0.0, samples: nil)
          super(name: name, weight: weight, cpu: Array(cpu), wait: Array(wait), unlocked: unlocked,
                waits: waits || (Array(wait).sum.positive? ? 1.0 : 0.0), correlation: correlation, samples: samples)
          freeze
        end

        def mean_cpu
          cpu.sum / cpu.length
        end

        def mean_wait
          wait.sum / wait.length
        end

        # Whether the model can compute with it.
        def valid?
          weight.is_a?(Numeric) && weight.positive? && [cpu, wait].all? do |times|
            times.any? && times.all? { |time| time.is_a?(Numeric) && !time.negative? }
          end
        end
      end

      attr_reader(*KEYS.map(&:to_sym))

      # The Profile in the file at +path+. Raises Failure.
      def self.read(path)
        new(**JSON.parse(File.read(path)).to_h.transform_keys(&:to_sym))
      rescue SystemCallError => error
        raise Failure, "#{path}: #{Load.reason(error)}"
      rescue JSON::ParserError, ArgumentError, TypeError, KeyError, NoMethodError
        raise Failure, "#{path}: not a profile of cuttle tune"
      rescue Failure => error
        raise Failure, "#{path}: #{error.message}"
      end

      # The Profile of a running server, from its ledger: see Production. Raises Failure.
      def self.from_ledger(ledger, **options)
        Production.new(ledger, **options).profile
      end

      # entries: an Array of Entry, or of Hashes with the same keys. Raises Failure if they are not valid.
      def initialize(entries:, schema: SCHEMA, corrections: [], **facts)
        raise Failure, "a profile of another version: #{schema.inspect}" unless schema == SCHEMA
        raise Failure, "a profile without requests" if entries.empty?

        unknown = facts.keys.map(&:to_s) - KEYS
        raise Failure, "a profile with an unknown key: #{unknown.first}" if unknown.any?

        @schema = schema
        @corrections = corrections
        @entries = entries.map { |each| each.is_a?(Entry) ? each : Entry.new(**each.transform_keys(&:to_sym)) }.freeze
        raise Failure, "a profile with a request without times" unless @entries.all?(&:valid?)

        facts.each { |name, value| instance_variable_set("@#{name}", value) }
        freeze
      end

      # A copy with changed keys: profile.with(corrections: […]).
      def with(**facts)
        self.class.new(**to_h.transform_keys(&:to_sym), **facts)
      end

      # The version of the Ruby that serves the app, "3.1"; that of this process if the profile doesn't say.
      def ruby
        told = environment.to_h.values_at("server_ruby", "ruby").compact
        told.filter_map { |text| text[/\d+\.\d+/] }.first || RUBY_VERSION
      end

      # CPU seconds of the average request, the app's only.
      def mean_cpu
        mean(&:mean_cpu)
      end

      # Waiting time of the average request, in seconds.
      def mean_wait
        mean(&:mean_wait)
      end

      def to_h
        KEYS.to_h { |name| [name, instance_variable_get("@#{name}")] }
            .merge("entries" => entries.map { |entry| entry.to_h.transform_keys(&:to_s) }).compact
      end

      # Writes the profile to +path+. A reader always sees a whole file. Raises Failure.
      def write(path)
        File.write("#{path}.new", "#{JSON.pretty_generate(to_h)}\n")
        File.rename("#{path}.new", path)
        path
      rescue SystemCallError => error
        raise Failure, "can't write #{path}: #{Load.reason(error)}"
      end

      private

      def mean
        entries.sum { |entry| entry.weight * yield(entry) } / entries.sum(&:weight)
      end
    end
  end
end

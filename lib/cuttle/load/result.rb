# frozen_string_literal: true

require "time"

module Cuttle
  module Load
    # The results of a run. Histograms are exact sums over threads and agents. to_h is the JSON of --json (docs/load.md
    # has its schema), and load makes the same Result from it.
    class Result
      autoload :Document, "cuttle/load/result/document"
      autoload :Entry, "cuttle/load/result/entry"
      autoload :Threads, "cuttle/load/result/threads"
      include Document
      include Threads

      SCHEMA = "cuttle-load/1"
      ERRORS = %i[connect reset early_close timeout malformed length status_4xx status_5xx status_unexpected check
                  redirect dropped local].freeze
      # The errors of responses that arrived but are wrong.
      WRONG = %i[status_4xx status_5xx status_unexpected check redirect].freeze
      # Histograms in addition to the response times, which are in the windows: service times, send lag, and the parts
      # of a response.
      HISTOGRAMS = %i[service lag connect first_byte transfer].freeze
      THREAD = %i[cpu wall waited last_response opened unfinished overdue longest_wait retried late gaps full
                  connect_error local_error].freeze
      PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99].freeze

      # statuses: { 200 => responses }. entries: an Entry for each name of the requests; none if all have one name.
      attr_reader :settings, :environment, :started_at, :windows, :threads, :histograms, :statuses, :entries

      # The result of one generator. +figures+ are Run#figures of each thread.
      def self.build(plan:, started_at:, interrupted:, windows:, figures:)
        new(settings: plan.settings, environment: Environment.to_h, started_at: started_at, interrupted: interrupted,
            offered: nil, windows: windows, threads: figures.map { |each| each.slice(*THREAD) },
            histograms: HISTOGRAMS.to_h { |name| [name, Histograms.sum(figures.map { |each| each[name] })] },
            statuses: sum_statuses(figures.map { |each| each[:statuses] }), entries: make_entries(plan, figures))
      end

      def self.make_entries(plan, figures)
        Entry.merge(figures.map do |each|
          each[:entries].zip(plan.names).map { |entry, name| Entry.new(name, *entry.values_at(*Entry.members.drop(1))) }
        end)
      end

      # The result of several generators that ran one plan together. settings: those of the whole plan.
      def self.merge(results, settings:)
        new(settings: settings, environment: results.first.environment.merge("agents" => results.map(&:environment)),
            started_at: results.map(&:started_at).min, interrupted: results.any?(&:interrupted?), offered: nil,
            windows: merge_windows(results.flat_map(&:windows)), threads: results.flat_map(&:threads),
            histograms: HISTOGRAMS.to_h { |name| [name, Histograms.sum(results.map(&name))] },
            statuses: sum_statuses(results.map(&:statuses)), entries: Entry.merge(results.map(&:entries)))
      end

      def self.sum_statuses(all)
        all.reduce({}) { |one, other| one.merge(other) { |_, a, b| a + b } }.sort.to_h
      end

      # The number of +responses+ that are right. errors: { class => count }.
      def self.good(responses, errors)
        responses - WRONG.sum { |name| errors.fetch(name, 0) }
      end

      # Merges the windows of the same second, and those after the end.
      def self.merge_windows(windows)
        draining, seconds = windows.partition(&:draining?)
        groups = seconds.group_by { |window| window.part[:from] }.sort.map(&:last)
        groups << draining if draining.any?
        groups.map { |group| Window.merge(group.map(&:part)) }
      end

      # A Result from to_h, or from parsed JSON. Raises Failure if it is not a result.
      def self.load(hash)
        raise Failure, "not a result of cuttle load" unless hash.is_a?(Hash) && hash["schema"] == SCHEMA

        new(settings: hash["settings"], environment: hash["environment"], started_at: Time.iso8601(hash["started_at"]),
            interrupted: hash["interrupted"], offered: hash["offered"],
            windows: hash["windows"].map { |window| Window.load(window) },
            threads: hash["threads"].map { |thread| thread.transform_keys(&:to_sym) },
            histograms: HISTOGRAMS.to_h { |name| [name, Histograms.load(hash["histograms"].fetch(name.to_s))] },
            statuses: hash.fetch("statuses", {}).transform_keys { |status| Integer(status) },
            entries: hash.fetch("entries", []).map { |entry| Entry.load(entry) })
      rescue NoMethodError, KeyError, TypeError, ArgumentError, RangeError
        raise Failure, "a damaged result of cuttle load"
      end

      def initialize(settings:, environment:, started_at:, interrupted:, offered:, windows:, threads:, histograms:,
                     statuses: {}, entries: [])
        @settings = settings
        @environment = environment
        @started_at = started_at
        @interrupted = interrupted
        @windows = windows.freeze
        @threads = threads.freeze
        @histograms = histograms.freeze
        @statuses = statuses.freeze
        @entries = entries.freeze
        @offered = offered || count_offered
      end

      def interrupted?
        @interrupted
      end

      def open?
        settings["loop"] == "open"
      end

      # Response times; in an open loop from the intended time. A timeout counts with the time until then.
      def latency
        @latency ||= Histograms.sum(windows.map(&:histogram))
      end

      # The response times as a Hash, which Histograms.load converts back.
      def distribution
        Histograms.to_h(latency)
      end

      HISTOGRAMS.each { |name| define_method(name) { histograms[name] } }

      # The seconds in which requests were sent: until the end of the run, until the last response if the number of
      # requests ended the run, or until the interruption.
      def elapsed
        return last_window if interrupted? || last_response.zero?

        ended_by_time? ? settings["duration"].to_f : last_response
      end

      # Responses per second during the time in which requests were sent.
      def rate
        elapsed.positive? ? windows.reject(&:draining?).sum(&:responses) / elapsed : 0.0
      end

      # Right responses per second: those whose status and checks are right.
      def good_rate
        elapsed.positive? ? windows.reject(&:draining?).sum(&:good) / elapsed : 0.0
      end

      # Octets received per second during the time in which requests were sent.
      def octet_rate
        elapsed.positive? ? windows.reject(&:draining?).sum(&:octets) / elapsed : 0.0
      end

      # The number of right responses.
      def good
        Result.good(responses, errors)
      end

      # Requests that the schedule asked for, or nil in a closed loop.
      attr_reader :offered

      Window::COUNTERS.each do |name|
        define_method(name) { windows.sum { |window| window.public_send(name) } }
      end

      # Requests that were sent, or were meant to be sent until they timed out. Shares of errors are shares of these.
      def arrivals
        sent + abandoned
      end

      # { connect: 0, … }
      def errors
        @errors ||= ERRORS.to_h { |name| [name, windows.sum { |window| window.errors.fetch(name, 0) }] }
      end

      def failures
        errors.values.sum
      end

      # Nanoseconds, or nil (see Histograms.percentile).
      def percentile(percentile, histogram = latency)
        Histograms.percentile(histogram, percentile)
      end

      # CPU time of the generator per response, in nanoseconds, or nil.
      def cpu_per_response
        per_response(:cpu)
      end

      # The time in which threads lacked a core (see #waiting), of all threads, per response, in nanoseconds, or nil.
      def waiting_per_response
        per_response(:waited) if waiting
      end

      # Warnings about these figures, as Marks::Mark. A result without marks is best.
      def marks
        @marks ||= Marks.of(self)
      end

      private

      def per_response(time)
        measured = windows.reject(&:draining?).sum(&:responses)
        threads.sum { |thread| thread[time] || 0 }.fdiv(measured) if measured.positive?
      end

      def count_offered
        return unless open?

        return arrivals + overdue if settings.dig("schedule", "name") == "trace"
        return settings["requests"] unless interrupted? || ended_by_time?

        [Schedules.load(settings["schedule"]).offered(elapsed).round, settings["requests"]].compact.min
      end

      # Whether something other than the number of requests ended it.
      def ended_by_time?
        settings["duration"] && last_window >= settings["duration"] - 1e-6
      end

      def last_response
        (threads.map { |thread| thread[:last_response] }.max || 0) / 1e9
      end

      def last_window
        windows.reject(&:draining?).map(&:to).max || 0.0
      end
    end
  end
end

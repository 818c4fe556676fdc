# frozen_string_literal: true

require "etc"

module Cuttle
  module Load
    # A run's plan: target, requests, load and duration, checked and frozen. Several generators may share a plan (see
    # Agents). Each then takes its part of the threads, connections and arrivals.
    class Plan
      autoload :Checks, "cuttle/load/plan/checks"
      include Checks

      DEFAULTS = {
        connections: nil, duration: nil, requests: nil, warmup: 0, threads: nil, # the load
        rate: nil, steps: nil, ramp: nil, trace: nil, poisson: false, think: 0,
        keep_alive: true, pipeline: 1, timeout: 10, slow_read: nil, # the connections
        method: nil, headers: [], body: nil, expect: nil, mix: nil, har: nil, seed: 1, # the requests
        check: [], cookies: false, follow: 0, in_order: false, # sessions
        insecure: false, authorities: nil
      }.freeze

      CLOSED_CONNECTIONS = 10
      OPEN_CONNECTIONS = 1000 # the maximum
      DURATION = 10
      NAMES = 256 # names of requests with separate figures, at most
      OTHERS = "others"
      SLOW_TICKS = (0.001..0.05) # seconds between two reads of a slow reader
      SLOW_OCTETS = 16_384 # that it reads at a time, as far as SLOW_TICKS allow

      # in_order: the requests are sent in turn instead of by their weights.
      attr_reader :target, :schedule, :requests, :options, :in_order, :sessions, :part, :parts

      # +options+ are DEFAULTS' keys. Yields which requests of a HAR file are left out (Har.read). Raises UsageError.
      def self.build(url, **options, &left_out)
        unknown = options.keys - DEFAULTS.keys
        raise UsageError, "no option #{unknown.first}" if unknown.any?

        new(Target.new(url), DEFAULTS.merge(options), &left_out)
      end

      # The number of threads that suits this machine.
      def self.threads_here
        (Etc.nprocessors / 2).clamp(1, 4)
      end

      def initialize(target, options, requests: nil, schedule: nil, in_order: nil, part: 0, parts: nil, &left_out)
        check_counts(options)
        @target = target
        @schedule = schedule || Schedules.build(**options.slice(:rate, :steps, :ramp, :trace, :poisson))
        @in_order = in_order || options[:in_order] || !options[:har].nil?
        @given_threads = options[:threads]
        @options = complete(options).freeze
        @requests = (requests || make_requests(&left_out)).freeze
        @part = part
        @parts = parts || threads
        check
        @sessions = Sessions.of(self)
        freeze
      end

      # Readers for options that other classes need.
      %i[connections threads warmup think keep_alive pipeline timeout slow_read seed cookies follow].each do |name|
        define_method(name) { options[name] }
      end

      # The number of requests to send, or nil.
      def limit
        options[:requests]
      end

      # In seconds, or nil if the number of requests ends the run.
      def duration
        options[:duration]
      end

      def open?
        schedule.open?
      end

      # The arguments of Run.new (rb_run.c): times in nanoseconds. +address+ is a packed socket address.
      def to_core(address)
        {
          address: address, tls: tls, requests: core_requests, entries: names.length, in_order: in_order, seed: seed,
          open: open?, shape: open? ? schedule.shape : nil, warm_shape: open? ? schedule.warm.shape : nil,
          keep_alive: keep_alive, threads: threads, connections: connections, pipeline: pipeline,
          part: part, parts: parts, limit: limit, duration: duration && nanoseconds(duration),
          warmup: nanoseconds(warmup), timeout: nanoseconds(timeout), think: nanoseconds(think),
          slow_octets: slow_octets, slow_tick: nanoseconds(slow_tick), sessions: sessions&.to_core
        }
      end

      # The names under which figures are kept, in the order of the requests. If there are too many, the last name
      # stands for the rest.
      def names
        names = requests.map(&:name).uniq
        names.length > NAMES ? [*names.first(NAMES - 1), OTHERS] : names
      end

      # The plan's description for a report.
      def settings
        {
          "url" => target.to_s, "schedule" => schedule.to_h.except("times"), "loop" => open? ? "open" : "closed",
          "load" => schedule.to_s, "connections" => connections, "threads" => threads, "duration" => duration,
          "requests" => limit, "warmup" => warmup, "think" => think, "keep_alive" => keep_alive,
          "pipeline" => pipeline, "timeout" => timeout, "slow_read" => slow_read, "seed" => seed,
          "cookies" => cookies, "follow" => follow, "in_order" => in_order, "mix" => requests.map(&:summary)
        }
      end

      # The plan as JSON for another generator.
      def to_wire
        {
          "url" => target.to_s, "schedule" => schedule.to_h, "in_order" => in_order, "part" => part, "parts" => parts,
          "requests" => requests.map(&:to_h), "options" => plain_options
        }
      end

      def self.from_wire(hash)
        options = DEFAULTS.merge(hash["options"].transform_keys(&:to_sym))
        requests = hash["requests"].map { |request| Request.load(request) }
        new(Target.new(hash["url"]), options, requests: requests, schedule: Schedules.load(hash["schedule"]),
                                              in_order: hash["in_order"], part: hash["part"], parts: hash["parts"])
      end

      # Divides this plan into a plan for each of several generators. threads: the number that suits each one's machine;
      # --threads is divided instead if it was given. The numbering of threads continues from one plan to the next.
      def split(threads)
        count = threads.length
        check_parts(count)
        owns = Array.new(count) do |index|
          { connections: share(connections, count, index), requests: limit && share(limit, count, index) }
        end
        numbers = threads_of(owns, threads)
        owns.zip(numbers).map.with_index do |(own, number), index|
          part = numbers.take(index).sum
          own[:requests] = arrivals_of(part...part + number, numbers.sum) if limit && open?
          Plan.new(target, options.merge(own, threads: number), requests: requests, schedule: schedule,
                                                                part: part, parts: numbers.sum)
        end
      end

      private

      def plain_options
        options.except(:rate, :steps, :ramp, :trace, :poisson, :mix, :har, :body, :headers, :method, :expect, :check)
               .transform_keys(&:to_s)
      end

      def share(whole, count, index)
        whole / count + (index < whole % count ? 1 : 0)
      end

      # The number of arrivals, of a limited number, that a schedule deals out to these of +parts+ threads.
      def arrivals_of(threads, parts)
        raise UsageError, "requests: give at least one for each of the #{parts} threads of the agents" if limit < parts

        threads.sum { |thread| share(limit, parts, thread) }
      end

      # The number of threads of each part.
      def threads_of(owns, suitable)
        return owns.zip(suitable).map { |own, threads| [threads, own[:connections]].min } unless @given_threads

        Array.new(owns.length) { |index| share([@given_threads, owns.length].max, owns.length, index) }
      end

      def complete(options)
        options = options.merge(connections: options[:connections] || default_connections)
        options[:threads] ||= [Plan.threads_here, options[:connections]].min
        options[:duration] ||= schedule.length || (DURATION unless options[:requests])
        options
      end

      def default_connections
        open? ? OPEN_CONNECTIONS : CLOSED_CONNECTIONS
      end

      def make_requests(&left_out)
        own = options.values_at(:method, :body, :expect).compact.any?
        raise UsageError, "--mix or --har, not both" if options[:mix] && options[:har]
        raise UsageError, "a mix sets methods, bodies and statuses" if own && (options[:mix] || options[:har])

        read_requests(&left_out).map { |request| with_checks(with_headers(request)) }
      end

      def read_requests(&left_out)
        mix, har = options.values_at(:mix, :har)
        return Har.read(har, target, &left_out) if har
        return [single_request] unless mix

        mix.is_a?(Array) ? mix : Mix.read(mix)
      end

      def single_request
        Request.new(method: options[:method] || (options[:body] ? "POST" : "GET"), path: target.path,
                    body: options[:body], expect: options[:expect])
      end

      # Adds the headers for all requests to those that don't have such a field.
      def with_headers(request)
        own = request.headers.map { |name,| name.downcase }
        added = options[:headers].to_a.reject { |name,| own.include?(name.to_s.downcase) }
        return request if added.empty?

        request.with(headers: added + request.headers)
      end

      # Adds the checks for all requests to those that have no checks.
      def with_checks(request)
        request.check.any? || options[:check].empty? ? request : request.with(check: options[:check])
      end

      def core_requests
        total = requests.sum(&:weight).to_f
        sum = 0
        numbers = names.each_with_index.to_h
        requests.map do |request|
          sum += request.weight
          { octets: request.octets(target.authority, close: !keep_alive), share: sum / total,
            expected: request.expect || 0, head: request.head?, entry: numbers.fetch(request.name, NAMES - 1),
            script: sessions&.script(request) }
        end
      end

      def tls
        { host: target.host, verify: !options[:insecure], authorities: options[:authorities] } if target.tls?
      end

      # A slow reader reads an equal part of its octets at every tick. At less than one octet per tick, ticks are
      # longer.
      def slow_tick
        slow_read ? [SLOW_OCTETS.fdiv(slow_read).clamp(SLOW_TICKS), 1.0 / slow_read].max : SLOW_TICKS.end
      end

      def slow_octets
        slow_read ? [(slow_read * slow_tick).round, 1].max : 0
      end

      def nanoseconds(seconds)
        (seconds * 1e9).round
      end
    end
  end
end

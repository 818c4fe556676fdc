# frozen_string_literal: true

module Cuttle
  module Telemetry
    module Metrics
      # Makes the rows of TABLE.
      module Rows
        module_function

        # One sample without labels; none if the block returns nil.
        def single(type, name, help, unit: nil)
          read = ->(measures) { [*yield(measures)].map { |value| [{}, value] } }
          Metric.new(name: name, type: type, unit: unit, help: help, labels: [], read: read)
        end

        # What the server counts over all its workers.
        def total(key, name, help)
          single(:counter, name, help) { |measures| measures[:totals][key] }
        end

        # What a supervisor knows of its workers.
        def workers(type, key, name, help)
          single(type, name, help) { |measures| measures.dig(:workers, key) }
        end

        # What the block reads of each process that serves. Two workers of the same index, of which one relieves the
        # other, count as one: +merge+ makes one value of theirs.
        def each(type, name, help, unit: nil, merge: :sum.to_proc, &block)
          read = lambda do |measures|
            values = measures[:processes].group_by { |process| process[:index] }
            values.transform_values { |processes| processes.filter_map(&block) }.reject { |_, found| found.empty? }
                  .map { |index, found| [index ? { worker: index.to_s } : {}, merge.call(found)] }
          end
          Metric.new(name: name, type: type, unit: unit, help: help, labels: %i[worker], read: read)
        end

        # A figure of each process' server.
        def figure(key, name, help, unit: nil)
          each(:gauge, name, help, unit: unit) { |process| process[:stats][key] }
        end

        # A phase of the ledger.
        def phase(key, name, help)
          read = ->(measures) { [*measures[:ledger][key]&.then { |phase| [[{}, Histogram.of(phase)]] }] }
          Metric.new(name: name, type: :histogram, unit: "seconds", help: help, labels: [], read: read,
                     phase: key)
        end

        def memory
          Metric.new(name: "cuttle_memory_bytes", type: :gauge, unit: "bytes", labels: %i[process worker],
                     help: "Proportional set size: a page that n processes share counts for 1/n in each. Linux only",
                     read: lambda { |measures|
                       found = measures[:owners].transform_values { |pids| measures[:memory].values_at(*pids).compact }
                       found.reject { |_, octets| octets.empty? }.transform_values(&:sum).to_a
                     })
        end

        def versions
          Metric.new(name: "cuttle_build_info", type: :gauge, labels: %i[version ruby],
                     help: "1; the labels say what runs",
                     read: lambda { |measures|
                       cuttle, ruby = measures[:versions].values_at(:cuttle, :ruby)
                       [[{ version: cuttle, ruby: ruby.values_at(:engine, :version).join(" ") }, 1]]
                     })
        end
      end

      # All metrics. docs/observability.md has the same list.
      TABLE = [
        Rows.versions,
        Rows.single(:gauge, "cuttle_start_time_seconds", "When the server started, in seconds since 1970",
                    unit: "seconds") { |measures| measures[:started_at]&.to_f },
        Rows.single(:gauge, "cuttle_ready",
                    "1 if as many workers accept connections as are wanted, otherwise 0") do |measures|
          measures[:ready] ? 1 : 0
        end,

        Rows.workers(:gauge, :known, "cuttle_workers", "Workers, also those that start or stop"),
        Rows.workers(:gauge, :ready, "cuttle_workers_ready", "Workers that accept connections"),
        Rows.workers(:gauge, :old, "cuttle_workers_old", "Workers that stop, or have code from before a restart"),
        Rows.workers(:counter, :started, "cuttle_workers_started_total", "Workers that were started"),
        Rows.workers(:counter, :died, "cuttle_workers_died_total", "Workers that ended unexpectedly"),

        Rows.total(:requests_count, "cuttle_requests_total", "Requests"),
        Rows.total(:dropped, "cuttle_requests_dropped_total",
                   "Requests whose clients disconnected before a thread took them"),
        Rows.total(:refused, "cuttle_requests_refused_total",
                   "Requests that were answered with 503 because of --max-queue or --queue-timeout"),
        Rows.total(:relayed, "cuttle_requests_relayed_total", "Requests that a busy worker gave to an idle one"),
        Rows.total(:stuck, "cuttle_requests_stuck_total", "Requests that exceeded --app-timeout"),
        Rows.total(:accepted, "cuttle_connections_accepted_total", "Connections"),
        Rows.total(:unproxied, "cuttle_connections_unproxied_total",
                   "Connections of trusted proxies that were closed because they lacked a PROXY header"),

        Rows.figure(:connections, "cuttle_connections", "Open connections"),
        Rows.figure(:hijacked, "cuttle_connections_hijacked",
                    "Connections that the app has taken over, as WebSockets are, and not closed"),
        Rows.figure(:backlog, "cuttle_backlog", "Complete requests that wait for a thread"),
        Rows.figure(:running, "cuttle_threads", "Threads that run the app"),
        Rows.figure(:max_threads, "cuttle_threads_max", "The most threads that there may be; absent without a limit"),
        Rows.each(:gauge, "cuttle_threads_auto", "1 if the server chooses the number of threads (-t auto), otherwise 0",
                  merge: :max.to_proc) { |process| process[:stats][:auto_threads] },
        Rows.figure(:busy_threads, "cuttle_threads_busy", "Requests in the app"),
        Rows.figure(:fibers, "cuttle_fibers", "Requests that have a fiber; engine fibers only"),
        Rows.figure(:spooled, "cuttle_spooled_bytes", "Bodies and responses in temporary files", unit: "bytes"),

        Rows.each(:counter, "cuttle_worker_requests_total", "Requests of the workers with this index",
                  merge: :max.to_proc) { |process| process[:requests] },
        Rows.each(:counter, "cuttle_worker_restarts_total", "How often a worker with this index was started again",
                  merge: :max.to_proc) { |process| process[:restarts] },
        Rows.each(:gauge, "cuttle_worker_start_time_seconds", "When the worker started, in seconds since 1970",
                  unit: "seconds", merge: :max.to_proc) { |process| process[:index] && process[:started_at]&.to_f },
        Rows.memory,

        Rows.phase(:total, "cuttle_request_duration_seconds", "A request from its first octet to the response's last"),
        Rows.phase(:accept, "cuttle_request_accept_seconds", "How long a connection's first request waited for accept"),
        Rows.phase(:read, "cuttle_request_read_seconds", "How long requests took to arrive"),
        Rows.phase(:queue, "cuttle_request_queue_seconds", "How long complete requests waited for a thread"),
        Rows.phase(:app, "cuttle_request_app_seconds", "How long requests were in the app"),
        Rows.phase(:cpu, "cuttle_request_cpu_seconds", "CPU time of requests in the app, where it was measured"),
        Rows.phase(:gvl, "cuttle_request_gvl_seconds", "How long requests in the app waited for the GVL"),
        Rows.phase(:gc, "cuttle_request_gc_seconds", "How long garbage was collected during requests in the app"),
        Rows.phase(:wait, "cuttle_request_wait_seconds", "How long requests in the app waited for anything else"),
        Rows.phase(:write, "cuttle_request_write_seconds", "How long responses took to be sent")
      ].freeze
    end
  end
end

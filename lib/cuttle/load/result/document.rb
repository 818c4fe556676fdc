# frozen_string_literal: true

module Cuttle
  module Load
    class Result
      # A result as JSON; docs/load.md has the schema.
      module Document
        def to_h
          {
            "schema" => SCHEMA, "started_at" => started_at.utc.iso8601(3), "interrupted" => interrupted?,
            "settings" => settings, "environment" => environment, "elapsed" => elapsed, "offered" => offered,
            "sent" => sent, "abandoned" => abandoned, "responses" => responses, "octets" => octets, "rate" => rate,
            "octet_rate" => octet_rate, "good" => good, "good_rate" => good_rate, "opened" => opened,
            "unfinished" => unfinished, "overdue" => overdue, "retried" => retried,
            "statuses" => statuses.transform_keys(&:to_s), "errors" => errors.transform_keys(&:to_s),
            "summary" => summary, "entries" => entries.map { |entry| entry_of(entry) },
            "client" => { "cpu" => client_cpu, "cpu_per_response" => cpu_per_response, "waiting" => waiting,
                          "waiting_per_response" => waiting_per_response },
            "marks" => marks.map { |mark| { "name" => mark.name.to_s, "text" => mark.text } },
            "threads" => threads.map { |thread| thread.transform_keys(&:to_s) },
            "histograms" => { latency: latency, **histograms }.to_h { |name, each| [name.to_s, hash_of(each)] },
            "windows" => windows.map(&:to_h)
          }
        end

        private

        # A summary in milliseconds, for readers who don't process histograms.
        def summary
          { "latency" => latency, **histograms.transform_keys(&:to_s) }.transform_values { |each| summary_of(each) }
        end

        def summary_of(histogram)
          {
            "count" => histogram.count, "min" => milliseconds(histogram.min), "mean" => milliseconds(histogram.mean),
            "deviation" => milliseconds(histogram.deviation), "max" => milliseconds(histogram.max),
            "percentiles" => PERCENTILES.to_h { |wanted| [wanted.to_s, milliseconds(percentile(wanted, histogram))] }
          }
        end

        def entry_of(entry)
          entry.to_h.merge("summary" => summary_of(entry.latency))
        end

        def milliseconds(nanoseconds)
          nanoseconds && (nanoseconds / 1e6).round(6)
        end

        def hash_of(histogram)
          Histograms.to_h(histogram).transform_keys(&:to_s)
        end
      end
    end
  end
end

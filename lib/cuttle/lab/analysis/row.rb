# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # A configuration under a load, over its valid runs; without such a run its values are nil.
      #
      # rate: Estimate, responses/s. p50, p95, p99: Estimate in ms, nil where too few responses tell. cpu_us: CPU time
      # of the server a response, microseconds. switches: voluntary context switches a response. pss_total and
      # pss_worker: octets. boot: seconds to the first answer. (Medians over the runs, or nil.) error_share: of what was
      # sent. errors: how many, over all runs, valid or not. marks: Hashes of "name" and "text", of runs, each once.
      Row = Struct.new(:configuration, :load, :rate, :p50, :p95, :p99, :cpu_us, :switches, :pss_total, :pss_worker,
                       :boot, :errors, :error_share, :valid_runs, :invalid_runs, :failed_runs, :unsteady_runs, :reasons,
                       :marks, keyword_init: true) do
        # Whether nearly all answers were right: else a rate is that of errors, and is no praise.
        def sound?
          error_share < Row::FAULTY
        end

        def measured?
          valid_runs.positive?
        end
      end
      Row::FAULTY = 0.01
    end
  end
end

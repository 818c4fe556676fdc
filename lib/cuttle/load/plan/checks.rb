# frozen_string_literal: true

module Cuttle
  module Load
    class Plan
      # Checks of a plan before its run. Each raises UsageError with the name of the invalid option.
      module Checks
        SPARE_FILES = 32 # descriptors that the process itself needs
        THREAD_FILES = 4 # descriptors that a thread needs (wait.h, waited.h)
        NO_TLS = "this build has no TLS: OpenSSL's headers were missing when it was compiled"

        # Raises the limit of open files for this process and its children to that many connections and threads, beside
        # the files that are open already. Each connection needs a descriptor. Raises UsageError.
        def self.allow_files(connections, threads = 0)
          soft, hard = Process.getrlimit(:NOFILE)
          spare = SPARE_FILES + THREAD_FILES * threads
          most = hard - spare
          raise UsageError, "connections: at most #{most}, as this process may open #{hard} files" if connections > most

          wanted = [connections + spare + Dir.glob("/proc/self/fd/*").length, hard].min
          Process.setrlimit(:NOFILE, wanted, hard) if wanted > soft
        end

        # Checks what the machine must have that makes the load. Raises UsageError.
        def check_machine
          raise UsageError, "https: #{NO_TLS}" if target.tls? && !TLS_AVAILABLE

          Checks.allow_files(connections, threads)
        end

        # Checks that each of +count+ generators gets a part. Raises UsageError.
        def check_parts(count)
          raise UsageError, "connections: give at least one for each agent" if connections < count
          raise UsageError, "requests: give at least one for each agent" if limit && limit < count
        end

        private

        def check
          check_numbers
          check_times
          check_sessions
          check_combinations
        end

        # Called before the options are used.
        def check_counts(options)
          options.slice(:connections, :threads, :pipeline, :requests).compact.each do |name, value|
            next if value.is_a?(Integer) && value.positive?

            raise UsageError, "#{name}: a whole number above 0, not #{value.inspect}"
          end
        end

        def check_numbers
          raise UsageError, "threads: no more than connections (#{connections})" if threads > connections
          raise UsageError, "pipeline: no more than 1024" if pipeline > 1024
          raise UsageError, "seed: a whole number from 0 on" unless seed.is_a?(Integer) && seed.between?(0, 2**64 - 1)
        end

        def check_times
          { duration: duration, timeout: timeout }.each do |name, value|
            next if value.nil? && name == :duration

            raise UsageError, "#{name}: a time above 0" unless value.is_a?(Numeric) && value.positive? && value < 1e6
          end
          { warmup: warmup, think: think }.each do |name, value|
            raise UsageError, "#{name}: a time" unless value.is_a?(Numeric) && value >= 0 && value < 1e6
          end
          raise UsageError, "timeout: at most an hour, the limit of the histograms" if timeout > 3600
          raise UsageError, "slow-read: octets per second above 0" if slow_read && !slow_read.positive?
        end

        def check_sessions
          raise UsageError, "check: a text or /a regular expression/" unless options[:check].is_a?(Array)
          return if follow.is_a?(Integer) && follow.between?(0, 100)

          raise UsageError, "follow: a whole number from 0 to 100"
        end

        def check_combinations
          raise UsageError, "--pipeline is for the closed loop" if pipeline > 1 && open?
          raise UsageError, "--pipeline needs connections that persist" if pipeline > 1 && !keep_alive
          raise UsageError, "--pipeline can't be used with --think" if pipeline > 1 && think.positive?
          raise UsageError, "--think is for the closed loop" if think.positive? && open?
          return unless warmup.positive? && open? && schedule.warm.offered(1).zero?

          raise UsageError, "--warmup has no rate with --trace, nor with a --ramp that begins with 0"
        end
      end
    end
  end
end

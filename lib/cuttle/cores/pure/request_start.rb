# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # X-Request-Start: a time since 1970, with or without "t=", in seconds with a fraction, milliseconds or
      # microseconds. The number's size tells which.
      module RequestStart
        FORM = /\A(?:t=)?(\d{1,19}(?:\.\d*)?)(?:[, ]|\z)/.freeze
        OLDEST = 3_600

        # Seconds since then; nil if the field names no time within the last hour.
        def self.age(value, now = Process.clock_gettime(Process::CLOCK_REALTIME))
          number = value[FORM, 1]&.to_r or return
          unit = [1, 1_000, 1_000_000, 1_000_000_000].find { |scale| (1e9 * scale...1e10 * scale).cover?(number) } or return
          age = now - number / unit
          age.to_f if age.between?(0, OLDEST)
        end
      end
    end
  end
end

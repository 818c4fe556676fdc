# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # X-Request-Start: a time since 1970, with or without "t=", in seconds with a fraction, milliseconds or
      # microseconds. The number's size tells which.
      module RequestStart
        FORM = /\A(?:t=)?(\d{1,19}(?:\.\d*)?)(?:[, ]|\z)/
        OLDEST = 3_600
        UNITS = [1, 1_000, 1_000_000, 1_000_000_000].freeze # of a second, milliseconds and so on

        # Seconds since then; nil if the field names no time within the last hour.
        def self.age(value, now = Process.clock_gettime(Process::CLOCK_REALTIME))
          number = value[FORM, 1]&.to_r or return
          unit = UNITS.find { |each| number.between?(1e9 * each, 1e10 * each) } or return
          age = now - (number / unit)
          age.to_f if age.between?(0, OLDEST)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Static
    # Dates of HTTP fields (RFC 9110, 5.6.7), as seconds since 1970.
    module HttpDate
      MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].freeze
      MONTH = "(?<month>#{MONTHS.join("|")})"
      CLOCK = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)"

      # The form to send, and two obsolete forms that must still be understood.
      FORMS = [
        /\A(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) #{MONTH} (?<year>\d{4}) #{CLOCK} GMT\z/n,
        /\A(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-#{MONTH}-(?<year>\d\d) #{CLOCK} GMT\z/n,
        /\A(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) #{MONTH} (?<day>[ \d]\d) #{CLOCK} (?<year>\d{4})\z/n
      ].freeze

      def self.format(seconds)
        Time.at(seconds).utc.strftime("%a, %d %b %Y %H:%M:%S GMT")
      end

      # nil if +text+ is not a valid date.
      def self.parse(text)
        match = nil
        FORMS.any? { |form| match = form.match(text) } or return

        match[:year].size == 4 ? seconds(match, match[:year].to_i) : recent(match, Time.now.utc)
      end

      # A year of two digits: a date that would be more than 50 years ahead belongs to the past century (5.6.7).
      def self.recent(match, now)
        year = now.year - now.year % 100 + match[:year].to_i
        date = seconds(match, year) or return

        last = Time.utc(now.year + 50, now.month, now.day, now.hour, now.min, now.sec).to_i
        date > last ? seconds(match, year - 100) : date
      end

      def self.seconds(match, year)
        day = match[:day].to_i
        time = Time.utc(year, match[:month], day, match[:hour], match[:minute], match[:second].to_i)
        time.to_i if [time.day, (time - 1).day].include?(day) # no 31 February; 23:59:60 belongs to the day before
      rescue ArgumentError
        nil
      end
      private_class_method :recent, :seconds
    end
  end
end

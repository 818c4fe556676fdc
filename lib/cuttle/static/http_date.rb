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

        day = match[:day].to_i
        time = Time.utc(year(match[:year]), match[:month], day, match[:hour], match[:minute], match[:second].to_i)
        time.to_i if [time.day, (time - 1).day].include?(day) # no 31 February; 23:59:60 belongs to the day before
      rescue ArgumentError
        nil
      end

      # A year of two digits that would be more than 50 years ahead belongs to the past century.
      def self.year(digits)
        return digits.to_i if digits.size == 4

        now = Time.now.utc.year
        year = now - now % 100 + digits.to_i
        year > now + 50 ? year - 100 : year
      end
      private_class_method :year
    end
  end
end

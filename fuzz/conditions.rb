# frozen_string_literal: true

require_relative "target"
require_relative "../test/support/fake_exchange"
require "cuttle"

module Fuzz
  # Preconditions and If-Range (Cuttle::Static::Conditions, ETag, HttpDate): an input is lines "name: value", of those
  # six fields that count; a first line "weak" makes the representation one of a weak tag.
  #
  # The status is what RFC 9110, 13.2.2 says of what the fields mean, where a plain reader understands them; a list that
  # is written in another way means the same; a date that is understood is the same when it is written and read again.
  module Conditions
    NAMES = %w[if-match if-none-match if-modified-since if-unmodified-since if-range range].freeze
    MODIFIED = 1_577_934_245
    DATE = "Thu, 02 Jan 2020 03:04:05 GMT"
    TAG = '"1f-2710-15e5f2d4a3b"'

    SEEDS = [
      "if-none-match: #{TAG}", "if-none-match: W/#{TAG}, \"x\"", "weak\nif-none-match: #{TAG}", "if-none-match: *",
      "if-match: #{TAG}", "if-match: \"x\", \"\", #{TAG}", "weak\nif-match: W/#{TAG}", "if-match: *",
      "if-modified-since: #{DATE}", "if-modified-since: Thursday, 02-Jan-20 03:04:06 GMT",
      "if-modified-since: Thu Jan  2 03:04:05 2020", "if-unmodified-since: Thu, 02 Jan 2020 03:04:04 GMT",
      "if-match: #{TAG}\nif-unmodified-since: Thu, 02 Jan 2020 03:04:04 GMT\nif-none-match: #{TAG}",
      "if-range: #{TAG}\nrange: bytes=0-1", "if-range: #{DATE}", "weak\nif-range: W/#{TAG}", "if-range: W/#{TAG}",
      "if-modified-since: Sat, 31 Feb 2020 03:04:05 GMT", "if-modified-since: Tue, 30 Jun 2015 23:59:60 GMT",
      "if-modified-since: Sat, 29 Feb 2020 23:59:59 GMT", "if-modified-since: Mon, 01 Jan 0000 00:00:00 GMT",
      "if-modified-since: Fri, 31 Dec 9999 23:59:60 GMT", "if-none-match: \"a,b\",#{TAG}", "if-none-match: W/\"x"
    ].freeze
    WORDS = [*NAMES.map { |name| "#{name}: " }, "\n", "weak\n", TAG, "W/", "\"", ", ", ",", "*", DATE, "GMT",
             "Thu, ", "Thursday, ", "02 Jan 2020", "02-Jan-20", " 2 ", "31 Feb", "23:59:60", "00:00:00", "0000", "9999",
             "70", "69", "\xFF", "\t", "Sun Nov  6 08:49:37 1994"].freeze

    # A list of tags that a plain reader can't make out.
    class Unclear < StandardError; end

    # What Conditions asks of a representation.
    Described = Struct.new(:etag, :modified) do
      def strong?
        !etag.start_with?("W/")
      end
    end

    module_function

    def call(octets)
      lines = octets.b.split("\n")
      weak = lines.first == "weak"
      fields = lines.filter_map { |line| line.split(": ", 2) if line.include?(": ") }.to_h.slice(*NAMES)
      described = Described.new("#{"W/" if weak}#{TAG}".b, MODIFIED)
      status = status(fields, described)
      demand_status(fields, described, status)
      demand_range(fields, described)
      fields.each_value { |value| demand_date(value) }
      rewritten(fields).each do |other|
        Fuzz.demand(status(other, described) == status, "a list's form is free") { other.inspect }
      end
      features(fields, status, weak)
    end

    def status(fields, described)
      status = Cuttle::Static::Conditions.status(FakeExchange.new("/", fields), described)
      Fuzz.demand([nil, 304, 412].include?(status), "a status of conditions") { status.inspect }
      status
    end

    # RFC 9110, 13.2.2, of what a plain reader makes of the fields.
    def demand_status(fields, described, status)
      failed = first_of(fields["if-match"] && !strong_match(fields["if-match"], described),
                        later?(described, fields["if-unmodified-since"]), fields.key?("if-match"))
      known = first_of(fields["if-none-match"] && weak_match(fields["if-none-match"], described),
                       earlier?(described, fields["if-modified-since"]), fields.key?("if-none-match"))
      expected = failed ? 412 : (304 if known)
      Fuzz.demand(status == expected, "the status is the specification's") { [fields, expected, status].inspect }
    rescue Unclear
      nil
    end

    # A field of tags is decisive where it is there; otherwise the date is.
    def first_of(by_tags, by_date, tags)
      tags ? by_tags : by_date
    end

    def strong_match(field, described)
      field == "*" || (described.strong? && tags(field).include?(described.etag))
    end

    def weak_match(field, described)
      field == "*" || tags(field).map { |tag| tag.delete_prefix("W/") }.include?(described.etag.delete_prefix("W/"))
    end

    # A well-formed list's entity tags, read octet by octet; what else it may be is for the server to say.
    def tags(field)
      tags = []
      rest = field.dup
      loop do
        rest = rest[1..] while rest.start_with?(" ", "\t", ",")
        return tags if rest.empty?

        weak = rest.start_with?("W/")
        rest = rest[2..] if weak
        close = rest.start_with?("\"") ? rest.index("\"", 1) : nil
        raise Unclear if close.nil? || rest[0..close].match?(/[\x00-\x20\x7f]/n)

        tags << "#{"W/" if weak}#{rest[0..close]}"
        rest = rest[close + 1..]
        raise Unclear unless rest.empty? || rest.match?(/\A[ \t]*(?:,|\z)/n)
      end
    end

    def later?(described, date)
      (time = date && time(date)) ? described.modified > time : false
    end

    def earlier?(described, date)
      (time = date && time(date)) ? described.modified <= time : false
    end

    def time(date)
      Cuttle::Static::HttpDate.parse(date)
    end

    # A part is only of what the client has: a strong tag, or the date, to the octet.
    def demand_range(fields, described)
      met = Cuttle::Static::Conditions.range?(FakeExchange.new("/", fields), described)
      validator = fields["if-range"]
      same = validator == described.etag || (validator && same_date?(validator, described))
      expected = validator.nil? || (described.strong? && same)
      Fuzz.demand(met == expected, "If-Range is of the strong validators") { [validator, met].inspect }
    end

    def same_date?(validator, described)
      !validator.include?("\"") && time(validator) == described.modified
    end

    # Dates that are understood are of the calendar, and go and come back.
    def demand_date(text)
      time = time(text)
      return if time.nil?

      Fuzz.demand(time.is_a?(Integer) && text.match?(/\A[ -~]{24,33}\z/n), "a date is one") { text.inspect }
      written = Cuttle::Static::HttpDate.format(time)
      return if Time.at(time).utc.year > 9999 # by a leap second

      Fuzz.demand(time(written) == time, "a date that was written is read") { [text, written].inspect }
      same = text.size != 29 || text.include?(":60 ") || text[4..] == written[4..]
      Fuzz.demand(same, "a date is written as it was read") { [text, written].inspect }
    end

    # The same lists with other white space and empty elements, which RFC 9110, 5.6.1 lets a sender make.
    def rewritten(fields)
      %w[if-match if-none-match].filter_map do |name|
        value = fields[name]
        next if value.nil? || value == "*"

        fields.merge(name => " ,\t#{tags(value).join(" ,, ")} ,")
      rescue Unclear
        nil
      end
    end

    def features(fields, status, weak)
      ["status #{status.inspect} #{weak} #{fields.keys.sort.join(",")}",
       *fields.map { |name, value| "#{name} #{time(value).nil?} #{Fuzz.shape(value, 3)}" },
       *fields.map { |name, value| "#{name} #{[value.count("\""), 9].min} #{value.include?("W/")}" }]
    end
  end
end

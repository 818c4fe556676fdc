# frozen_string_literal: true

require_relative "target"
require "cuttle"

module Fuzz
  # Range fields (Cuttle::Static::Ranges): an input is the representation's size, a space, and the field.
  #
  # What is answered lies inside the representation, in so many parts at most, none of which overlap or nearly touch; it
  # has every octet that a plain reading of the field asks for, and none that lies further away; and a field of the same
  # meaning gets the same answer.
  module Ranges
    SIZES = [0, 1, 2, 100, 129, 10_000, 1 << 40].freeze
    MANY = (0..31).map { |n| "#{n * 300}-#{n * 300}" }.join(",").freeze

    SEEDS = [
      "10000 bytes=0-499", "10000 bytes=-500", "10000 bytes=9500-", "10000 BYTES= 1-2 ,\t,3-4", "10000 bytes=#{MANY}",
      "10000 bytes=#{MANY},1-2", "10000 bytes=500-600, 0-10,-100", "0 bytes=0-", "0 bytes=-0", "0 bytes=-5",
      "1 bytes=0-0", "10000 bytes=10000-,-0", "10000 bytes=2-1", "10000 bytes=0-700,300-999,990-1200",
      "10000 items=0-1", "10000 bytes=001-0002", "10000 bytes=99999999999999999999-",
      "1099511627776 bytes=0-0,-1,4294967295-4294967296", "10000 bytes=1-2-3", "10000 bytes=a-b", "10000 bytes=0-1\n",
      "10000 bytes", "10000 bytes=,,,",
      "10000 bytes=1 - 2", "10000 bytes=0-0,129-129,257-257,386-386"
    ].freeze
    WORDS = ["bytes=", "BYTES=", "-", ",", ", ", "0-", "-0", "-1", "0-0", "\t", " ", "=", "9999", "10000", "128", "129",
             "99999999999999999999", "00000", ";", "\n", "\0", "\xFF", "+", "items=", MANY, ",,,,,,,,"].freeze

    module_function

    def call(octets)
      size, field = split(octets.b)
      answer = Cuttle::Static::Ranges.parse(field, size)
      wanted = wanted(field, size)
      demand_bounds(answer, size)
      demand_meaning(answer, wanted)
      others(field, size).each do |way, other|
        same = Cuttle::Static::Ranges.parse(other, size) == answer
        Fuzz.demand(same, "an answer does not depend on #{way}") { other }
      end
      features(field, size, answer, wanted)
    end

    def split(octets)
      size, field = octets.split(" ", 2)
      return [size.to_i, field] if field && size.match?(/\A\d{1,13}\z/)

      [SIZES[octets.sum % SIZES.size], octets]
    end

    def demand_bounds(answer, size)
      return if answer.nil?

      Fuzz.demand(answer.all? { |range| range.begin.between?(0, range.end) && range.end < size },
                  "each range lies inside") { answer.inspect }
      Fuzz.demand(answer.size <= 32, "parts are few") { answer.size }
      apart = answer.sort_by(&:begin).each_cons(2).all? { |one, next_one| next_one.begin > one.end + 128 }
      Fuzz.demand(apart, "parts lie apart") { answer.inspect }
    end

    # The first and last octet of each range asked for, in order; nil where the field is to be ignored. By hand, where
    # the server uses expressions.
    def wanted(field, size)
      return if field.bytesize > 1024 || field.include?("\n")

      unit, set = field.split("=", 2)
      return unless set && unit.downcase == "bytes"

      specs = set.split(",").map { |spec| trim(spec) }.reject(&:empty?)
      return if specs.empty? || specs.size > 32

      specs.map { |spec| pair(spec, size) || return }.reject { |first, last| first > last }
    end

    def trim(text)
      text = text[1..] while text.start_with?(" ", "\t")
      text = text[0..-2] while text.end_with?(" ", "\t")
      text
    end

    # [first, last], first > last where nothing of it is there; nil where it is not valid
    def pair(spec, size)
      return unless spec.count("-") == 1 && spec.delete("0-9-").empty? && spec != "-"

      first, last = spec.split("-", 2).map { |digits| digits.empty? ? nil : Integer(digits, 10) }
      return if (first && last && last < first) || (!first && last.positive? && size.zero?)

      first ? [first, [last || size, size - 1].min] : [[size - last, 0].max, size - 1]
    end

    # Each octet wanted is answered, each end of a part is one that was wanted, and parts are in the order of the
    # request.
    def demand_meaning(answer, wanted)
      Fuzz.demand(answer.nil? == wanted.nil?, "a field is ignored where it must be") { [answer, wanted].inspect }
      return unless answer

      holders = wanted.map { |first, last| answer.index { |part| part.begin <= first && last <= part.end } }
      Fuzz.demand(holders.none?(&:nil?), "what is asked for is answered") { [answer, wanted].inspect }
      ordered = holders.uniq == (0...answer.size).to_a
      Fuzz.demand(ordered, "parts are in the order asked for") { [answer, wanted].inspect }
      Fuzz.demand(answer.all? { |part| tight?(part, wanted) }, "nothing else is answered") { [answer, wanted].inspect }
    end

    # Whether the part begins and ends with wanted octets, and holds no long stretch that nobody wants.
    def tight?(part, wanted)
      inside = wanted.select { |first, last| part.begin <= first && last <= part.end }.sort
      reached = part.begin
      near = inside.all? { |first, last| (first <= reached + 128).tap { reached = [reached, last].max } }
      near && inside.first.first == part.begin && reached == part.end
    end

    # Fields of the same meaning that are within the bounds too.
    def others(field, size)
      unit, set = field.split("=", 2)
      return [] unless set

      specs = set.split(",", -1)
      { "white space" => "#{unit}=#{specs.map { |spec| " #{spec}\t" }.join(",")}",
        "empty elements" => "#{unit}=,#{set},", "the unit's case" => "#{unit.swapcase}=#{set}",
        "zeros in front" => "#{unit}=#{set.gsub(/(?<!\d)(?=\d)/, "00")}",
        "a range cut in two" => cut(unit, specs, size) }
        .select { |_, other| other && other.bytesize <= 1024 && field.bytesize <= 1024 && other.count(",") < 32 }
    end

    # The first range that can be, as two that touch.
    def cut(unit, specs, size)
      place = specs.index { |spec| spec.match?(/\A\d+-\d+\z/) } or return
      first, last = specs[place].split("-").map(&:to_i)
      middle = (first + [last, size - 1].min) / 2
      return unless first <= middle && middle < last && middle < size - 1

      cut = ["#{first}-#{middle}", "#{middle + 1}-#{last}"]
      "#{unit}=#{[*specs[0...place], *cut, *specs[place + 1..]].join(",")}"
    end

    def features(field, size, answer, wanted)
      set = field.split("=", 2).last.to_s
      ["answer #{answer&.size.inspect}", "wanted #{wanted&.size.inspect} of #{answer&.size.inspect}",
       "shape #{Fuzz.shape(set, 3)}", "size #{size.bit_length}", "commas #{[field.count(","), 40].min}",
       "order #{answer && answer.sort_by(&:begin) == answer}", "long #{field.bytesize > 1024}"]
    end
  end
end

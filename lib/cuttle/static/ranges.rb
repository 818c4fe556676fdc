# frozen_string_literal: true

module Cuttle
  class Static
    # The Range field (RFC 9110, 14), limited so that a short request can't cause much work. Ranges that overlap or
    # nearly touch become one, so no octet is sent twice. A field with too many ranges is ignored.
    module Ranges
      MAX = 32
      MAX_FIELD = 1024 # octets

      # Ranges closer than this are sent as one, because the head of a part is as long.
      NEAR = 128 # octets

      UNIT = /\Abytes=(?<set>.*)\z/in
      SPEC = /\A(?:(?<first>\d+)-(?<last>\d*)|-(?<suffix>\d+))\z/n

      # The Ranges of octets to send, in the order of the request. +size+ is the size of the file. Empty if no range
      # exists in the file (416). nil if the field must be ignored: another unit, invalid, too many.
      def self.parse(field, size)
        set = field.bytesize <= MAX_FIELD && UNIT.match(field) or return
        specs = set[:set].split(",").map { |spec| spec.gsub(/\A[ \t]+|[ \t]+\z/n, "") }.reject(&:empty?)
        return if specs.empty? || specs.size > MAX

        matches = specs.map { |spec| SPEC.match(spec) or return }
        return if matches.any? { |match| backwards?(match) || beyond_empty?(match, size) }

        coalesce(matches.filter_map { |match| range(match, size) })
      end

      def self.backwards?(match)
        match[:first] && !match[:last].empty? && match[:last].to_i < match[:first].to_i
      end

      # An empty file has no last octet, but a suffix of it is valid: the whole file.
      def self.beyond_empty?(match, size)
        size.zero? && match[:suffix].to_i.positive?
      end

      def self.range(match, size)
        first = match[:first] ? match[:first].to_i : [size - match[:suffix].to_i, 0].max
        last = match[:last].to_s.empty? ? size - 1 : [match[:last].to_i, size - 1].min
        first..last if first <= last
      end

      # Each run of joined ranges takes the place of the one that was requested first.
      def self.coalesce(ranges)
        runs = ranges.each_with_index.sort_by { |range, _| range.begin }.each_with_object([]) do |(range, place), all|
          if all.any? && range.begin <= all.last[0].end + NEAR
            all[-1] = [all.last[0].begin..[all.last[0].end, range.end].max, [all.last[1], place].min]
          else
            all << [range, place]
          end
        end
        runs.sort_by(&:last).map(&:first)
      end
      private_class_method :backwards?, :beyond_empty?, :range, :coalesce
    end
  end
end

# frozen_string_literal: true

module Cuttle
  class Static
    # Content codings of precompressed files, and the client's choice among them (RFC 9110, 12.5.3).
    module Encodings
      # Coding => the suffix of its files. The coding that we prefer comes first.
      SUFFIXES = { "br" => ".br", "gzip" => ".gz" }.freeze

      MAX_FIELD = 512 # octets; no client lists that many codings
      ITEM = /\A[ \t]*(?<coding>[^\s;,]+)[ \t]*(?:;[ \t]*q=(?<quality>0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?[ \t]*\z/in

      # The codings to look for, best first: those that the Accept-Encoding +field+ rates at least as high as no coding.
      def self.preferred(field)
        return [] if field.bytesize > MAX_FIELD

        qualities = qualities(field)
        others = qualities["*"]
        plain = qualities["identity"] || others || 0.0
        liked = SUFFIXES.keys.to_h { |coding| [coding, qualities[coding] || others || 0.0] }
        liked.select! { |_, quality| quality.positive? && quality >= plain }
        liked.sort_by { |coding, quality| [-quality, SUFFIXES.keys.index(coding)] }.map(&:first)
      end

      # Invalid items are ignored.
      def self.qualities(field)
        field.split(",").filter_map { |item| ITEM.match(item) }.to_h do |match|
          coding = match[:coding].downcase
          [coding == "x-gzip" ? "gzip" : coding, (match[:quality] || 1).to_f]
        end
      end
      private_class_method :qualities
    end
  end
end

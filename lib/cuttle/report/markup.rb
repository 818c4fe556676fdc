# frozen_string_literal: true

module Cuttle
  module Report
    # Makes markup. Law: only Safe strings, which this module makes, go onto a page unchanged. All other text comes from
    # outside (names, paths, output of servers) and is escaped here, and nowhere else.
    module Markup
      class Safe < String; end

      ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze
      VOID = %i[link meta].freeze
      # HTML does not allow control characters, except tab and line feed.
      CONTROL = "\u0000-\u0008\u000b-\u001f\u007f-\u009f"

      module_function

      # <name attributes>content</name>. An attribute that is nil is left out; underscores in its name become hyphens.
      def tag(name, *content, **attributes)
        start = "<#{name}#{attributes.map { |key, value| attribute(key, value) }.join}>"
        Safe.new(VOID.include?(name) ? start : "#{start}#{safe(content)}</#{name}>")
      end

      # Joins texts and markup.
      def safe(*parts)
        Safe.new(parts.flatten.compact.map { |part| part.is_a?(Safe) ? part : escape(part) }.join)
      end

      def escape(text)
        clean(text).gsub(/[&<>"']/, ESCAPES)
      end

      # Any text as valid UTF-8 without control characters.
      def clean(text)
        text = text.to_s
        text = text.dup.force_encoding(Encoding::UTF_8) unless text.encoding == Encoding::UTF_8
        text.scrub("\uFFFD").delete(CONTROL)
      end

      def attribute(key, value)
        return if value.nil?

        %( #{key.to_s.tr("_", "-")}="#{escape(value)}")
      end
    end
  end
end

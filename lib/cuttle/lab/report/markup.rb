# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # Markup from parts. Law: only Safe strings, which this module made, go onto a page as they are; all else is text
      # from outside (names, outputs of servers, paths) and is escaped here, and nowhere else.
      module Markup
        class Safe < String; end

        ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze
        VOID = %i[link meta].freeze
        # Control characters have no place in HTML; tab and line feed do.
        CONTROL = "\u0000-\u0008\u000b-\u001f\u007f-\u009f"

        module_function

        # <name attributes>content</name>. An attribute that is nil is left out, its underscores become hyphens.
        def tag(name, *content, **attributes)
          start = "<#{name}#{attributes.map { |key, value| attribute(key, value) }.join}>"
          Safe.new(VOID.include?(name) ? start : "#{start}#{safe(content)}</#{name}>")
        end

        # Texts and markup, one after the other.
        def safe(*parts)
          Safe.new(parts.flatten.compact.map { |part| part.is_a?(Safe) ? part : escape(part) }.join)
        end

        def escape(text)
          clean(text).gsub(/[&<>"']/, ESCAPES)
        end

        # Valid UTF-8 without control characters, whatever came in.
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
end

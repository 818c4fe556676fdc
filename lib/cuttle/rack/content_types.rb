# frozen_string_literal: true

require "rack/mime"

module Cuttle
  module Rack
    # Content types by file name extension, from the table that Rack maintains: what Cuttle::Static is given.
    module ContentTypes
      # ".html" → "text/html"; nil for an extension that the table lacks.
      def self.call(extension)
        ::Rack::Mime::MIME_TYPES[extension]
      end
    end
  end
end

# frozen_string_literal: true

require "rack/mime"

module Cuttle
  module Rack
    # Content types by file extension, from Rack's table, for Cuttle::Static.
    module ContentTypes
      # ".html" → "text/html"; nil for an extension that is not in the table.
      def self.call(extension)
        ::Rack::Mime::MIME_TYPES[extension]
      end
    end
  end
end

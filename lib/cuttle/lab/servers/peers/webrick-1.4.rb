# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # WEBrick as it came with Ruby 2.5.
        class Webrick14 < Webrick
          def gems = %w[webrick:1.4.2 rack:<3]
          def bundled? = false
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

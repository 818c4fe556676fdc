# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The last of the series that was current when the first publication measured it.
        class Thin16 < Thin
          def gems = %w[thin:1.6.4 rack:<2]
          def bundled? = false
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

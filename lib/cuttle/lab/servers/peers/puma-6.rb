# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The last of series 6.
        class Puma6 < Puma
          def gems = %w[puma:6.6.1 rack rackup]
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

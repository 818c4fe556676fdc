# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The last of series 7.
        class Puma7 < Puma
          def gems = %w[puma:7.2.1 rack rackup]
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

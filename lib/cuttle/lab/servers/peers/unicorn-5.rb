# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The last of the series that was current from 2015 to 2019.
        class Unicorn5 < Unicorn
          def gems = %w[unicorn:5.8.0 rack:<3]
          def bundled? = false
          def program = "unicorn"
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

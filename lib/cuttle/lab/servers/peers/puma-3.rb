# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The last of the series that was current from 2016 to 2019.
        class Puma3 < Puma56
          def gems = %w[puma:3.12.6 rack:<3]
          def thread_name = /\Apuma \d+\z/
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

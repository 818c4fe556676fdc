# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The last of the series that was current when the first publication measured it.
        class Unicorn4 < Unicorn
          # Its own dependency would install the newest Rack, which is too new for it.
          LOAD = 'gem "rack", "< 2"; load Gem.bin_path("unicorn", "unicorn")'

          def gems = %w[unicorn:4.9.0 rack:<2]
          def bundled? = false
          def program = "unicorn"

          def command(setup)
            [setup.ruby || RbConfig.ruby, "-e", LOAD, "--", *arguments(setup).drop(1)]
          end
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName

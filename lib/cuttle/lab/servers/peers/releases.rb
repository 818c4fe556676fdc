# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # Earlier releases of servers. Each starts like its newest release, with the differences in this file.
      module Peers
        # The last of series 7.
        class Puma7 < Puma
          def gems = %w[puma:7.2.1 rack rackup]
        end

        # The last of series 6.
        class Puma6 < Puma
          def gems = %w[puma:6.6.1 rack rackup]
        end

        # The last of the series that was current from 2016 to 2019.
        class Puma3 < Puma56
          def gems = %w[puma:3.12.6 rack:<3]
          def thread_name = /\Apuma \d+\z/
        end

        # The last of the series that was current when the first publication measured it.
        class Thin16 < Thin
          def gems = %w[thin:1.6.4 rack:<2]
          def bundled? = false
        end

        # The last of the series that was current from 2015 to 2019.
        class Unicorn5 < Unicorn
          def gems = %w[unicorn:5.8.0 rack:<3]
          def bundled? = false
          def program = "unicorn"
        end

        # WEBrick as it came with Ruby 2.5.
        class Webrick14 < Webrick
          def gems = %w[webrick:1.4.2 rack:<3]
          def bundled? = false
        end
      end
    end
  end
end

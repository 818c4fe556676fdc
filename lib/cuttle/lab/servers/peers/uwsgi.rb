# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Debian's uWSGI, with its own Rack.
        class Uwsgi < Peer
          def gems = %w[rack:<3]
          def bundled? = false
          def package = "uwsgi-core and uwsgi-plugin-rack-ruby3.1"
          def keeps_alive = [false]
          def unavailable = super || ("not installed: the Debian packages #{package} have it" unless executable)
          def version = stated_version

          def command(setup)
            [executable, "--plugin", "rack", "--http-socket", address(setup), "--disable-logging", "--add-header",
             "Connection:close", "--rb-gc-freq", "10000", "--processes", "1", "--rack", setup.app]
          end
        end
      end
    end
  end
end

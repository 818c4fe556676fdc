# frozen_string_literal: true

module Cuttle
  class Plugin
    # Restarts the server when the file tmp/restart.txt is touched, as Passenger and Puma's plugin do.
    class TmpRestart < Plugin
      PATH = "tmp/restart.txt"

      # Seconds between checks.
      PERIOD = 1

      def start(process)
        path = File.expand_path(PATH)
        touched = time(path)
        in_background do
          loop do
            sleep PERIOD
            before = touched
            touched = time(path)
            process.command("restart") if touched && touched != before
          end
        end
      end

      private

      def time(path)
        File.mtime(path)
      rescue SystemCallError
        nil
      end
    end
  end
end

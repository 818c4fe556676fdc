# frozen_string_literal: true

module Cuttle
  class Plugin
    # Restarts the server when the file tmp/restart.txt is touched, as Passenger and Puma's plugin do. If the directory
    # is known by a link to the newest release, it is the file of that release.
    class TmpRestart < Plugin
      PATH = "tmp/restart.txt"

      # Seconds between checks.
      PERIOD = 1

      def start(process)
        file = Touched.new(process.directory)
        in_background do
          loop do
            sleep PERIOD
            process.command("restart") if file.again?
          end
        end
      end

      # The file, as it was at the last look.
      class Touched
        # Seconds by which the time of a file may be behind the clock: some file systems count in steps of two.
        SLACK = 2

        # +directory+ is the name of the directory to serve in, which may be a link that moves.
        def initialize(directory)
          @directory = directory
          @seen = Time.now
          look
        end

        # Whether the file was touched since the last look. The file of another release has another time in any case, so
        # it counts only if that time is after the last look.
        def again?
          release, time, seen = @release, @time, @seen
          look
          return false if @time.nil? || @time == time

          @release == release || @time > seen - SLACK
        end

        private

        # While a link is replaced there may be none. Then what was seen stays.
        def look
          @release = File.realpath(@directory)
          @seen = Time.now
          @time = nil
          @time = File.mtime("#{@release}/#{PATH}")
        rescue SystemCallError
          nil
        end
      end
    end
  end
end

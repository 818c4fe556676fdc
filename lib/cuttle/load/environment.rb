# frozen_string_literal: true

require "etc"
require "socket"

module Cuttle
  module Load
    # The machine and the software that a result was measured with.
    module Environment
      module_function

      def to_h
        {
          "cuttle" => VERSION, "ruby" => RUBY_DESCRIPTION, "tls" => TLS_LIBRARY, "host" => Socket.gethostname,
          "system" => system, "processors" => Etc.nprocessors, "processor" => processor, "load_average" => load_average
        }
      end

      def system
        Etc.uname.values_at(:sysname, :release, :machine).join(" ")
      end

      def processor
        File.foreach("/proc/cpuinfo").find { |line| line.start_with?("model name") }&.split(":", 2)&.last&.strip
      rescue SystemCallError
        nil
      end

      def load_average
        File.read("/proc/loadavg").split.first(3).map(&:to_f)
      rescue SystemCallError
        nil
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  # Where every thread of this process but the calling one is, for an operator (PWR, INFO).
  module Backtraces
    class << self
      # Writes them to standard error in one piece. Not from a trap handler, which may take no lock.
      def print
        $stderr.write("#{text}\n")
      rescue SystemCallError, IOError
        nil # nobody reads it
      end

      # One paragraph for each thread.
      def text
        (Thread.list - [Thread.current]).map do |thread|
          name = thread.name || (thread == Thread.main ? "main" : thread.inspect)
          ["cuttle: thread #{name} of process #{Process.pid} (#{thread.status}) is at", *thread.backtrace].join("\n\t")
        end.join("\n")
      end
    end
  end
end

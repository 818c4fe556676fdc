# frozen_string_literal: true

module Cuttle
  class CLI
    # `cuttle version`
    class Version
      def initialize(out:, err:)
        @out = out
        @err = err
      end

      def run(_arguments)
        @out.puts "cuttle #{VERSION} (#{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}, #{RUBY_PLATFORM})"
        0
      end
    end
  end
end

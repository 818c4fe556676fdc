# frozen_string_literal: true

module Cuttle
  class Restart
    # The directory that a server was started in and the one that it serves in, by names with their symbolic links: a
    # link may point to a newer release at the next restart. Make it before anything changes the directory. Afterwards
    # it never changes.
    class Directory
      # Variables in which Bundler, or a program of its own (bin/rails), notes paths without links.
      NOTED = %w[BUNDLE_GEMFILE BUNDLE_LOCKFILE BUNDLE_BIN_PATH BUNDLER_SETUP GEM_HOME GEM_PATH PATH RUBYLIB
                 RUBYOPT].freeze

      # The name of the directory that the program was started in. The words of its command line are relative to it.
      attr_reader :start

      # The name of the directory to serve in.
      attr_reader :name

      # +configured+: the directory to serve in, if it is not the one at the start.
      def initialize(configured = nil)
        @start = name_of_present([configured, ENV.fetch("PWD", nil)].compact)
        @name = configured || @start
        @release = real
        @noted = %r{(\A|[:\s]|-r|-I)#{Regexp.escape(@release)}(?=[/:\s]|\z)}
      end

      # Where to serve: the directory that the name leads to now. Raises SystemCallError.
      def real = File.realpath(@name)

      # A copy of the Hash +variables+ in which Bundler's paths into the release of the start lead into the present one.
      def follow(variables)
        present = real
        variables.to_h { |name, value| [name, NOTED.include?(name) ? moved(value, present) : value] }
      end

      # +command+, an Array, with its program (it may be the second word, after Ruby) of the present release.
      def follow_program(command)
        present = real
        command.each_with_index.map { |word, index| index < 2 ? moved(word, present) : word }
      end

      private

      # systemd sets no PWD. Then only the setting knows the link.
      def name_of_present(candidates)
        candidates.find { |candidate| File.identical?(candidate, ".") } || Dir.pwd
      end

      def moved(text, present)
        return text if present == @release || !text.valid_encoding?

        text.gsub(@noted) { "#{Regexp.last_match(1)}#{present}" }
      end
    end
  end
end

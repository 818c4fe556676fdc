# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Studies
    # The Rubies of this machine by series ("3.1"): this one, programs ruby, ruby3.4 and so on in the PATH, and those in
    # the environment variable RUBIES, whose paths are separated by colons.
    module Rubies
      PROGRAM = /\Aruby[\d.]*\z/

      module_function

      # The path of that series' Ruby, or nil.
      def find(series)
        all[series]
      end

      # { series => path }; this Ruby comes before others of its series.
      def all
        @all ||= [RbConfig.ruby, *named, *programs].uniq.filter_map { |path| [series(path), path] if series(path) }
                                                   .reverse.to_h
      end

      def named
        ENV.fetch("RUBIES", "").split(File::PATH_SEPARATOR)
      end

      def programs
        ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).flat_map do |directory|
          Dir.exist?(directory) ? Dir.children(directory).grep(PROGRAM).map { |name| "#{directory}/#{name}" } : []
        end
      end

      # The series of a Ruby, or nil for another program.
      def series(path)
        @series ||= {}
        @series.fetch(path) { @series[path] = version(path)&.[](/\A\d+\.\d+/) }
      end

      def version(path)
        IO.popen([path, "-e", "print RUBY_VERSION"], err: File::NULL, &:read)
      rescue SystemCallError
        nil
      end
    end
  end
end

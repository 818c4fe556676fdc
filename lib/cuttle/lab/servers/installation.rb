# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "open3"

module Cuttle
  module Lab
    module Servers
      # This Cuttle under another Ruby. Its extension must be compiled for that Ruby, so its gem is built from the files
      # here and installed as a user installs it, in a directory of its own.
      class Installation
        # ruby: the path of that Ruby.
        def initialize(ruby)
          @ruby = ruby
        end

        # The directory that has lib/ and exe/.
        def root = "#{directory}/gems/cuttle-#{VERSION}"

        # Variables for a process of that Ruby. An app's own bundle takes precedence.
        def environment = { "GEM_PATH" => "#{directory}:" }

        # Installs the gem, unless these files are installed already: compiling takes half a minute. Returns nil, or a
        # line that says why it failed.
        def failure
          return @failure if defined?(@failure)

          @failure = install
        rescue Failure, SystemCallError => error
          @failure = "can't be installed for #{@ruby}: #{error.message}"
        end

        private

        def directory = @directory ||= "#{GemDirectory.directory(@ruby)}/cuttle"

        def install
          package = build
          gems = GemDirectory.new("cuttle", [package], ruby: @ruby)
          return if gems.installed?

          FileUtils.rm_rf(directory)
          reason = gems.install
          raise Failure, reason if reason
        ensure
          FileUtils.rm_f(package) if package
        end

        # The path of the gem. Files of the same content make a gem of the same name, which GemDirectory recognizes.
        def build
          FileUtils.mkdir_p(File.dirname(directory))
          draft = "#{directory}-draft.gem"
          output, status = Open3.capture2e({ **Server::CLEAN, "SOURCE_DATE_EPOCH" => "0" }, RbConfig.ruby, "-S", "gem",
                                           "build", specification, "-o", draft, chdir: ROOT)
          raise Failure, output.lines.last.to_s.strip unless status.success?

          "#{directory}-#{Digest::SHA256.file(draft).hexdigest[0, 12]}.gem".tap { |path| File.rename(draft, path) }
        end

        # A clone has the file; of an installed gem, RubyGems keeps it.
        def specification
          clone = "#{ROOT}/cuttle.gemspec"
          File.exist?(clone) ? clone : Gem.loaded_specs.fetch("cuttle").loaded_from
        end
      end
    end
  end
end

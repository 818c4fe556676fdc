# frozen_string_literal: true

require "bundler"
require "fileutils"
require "open3"
require "tmpdir"

module Real
  # A directory with a database and files for one server with the forum in it. bin/setup makes the first, and the
  # others are copies.
  class ForumStorage
    attr_reader :path

    def self.template
      @template ||= new(nil).tap do |template|
        Minitest.after_run { template.remove }
        template.command("bin/setup")
      end
    end

    def initialize(template = self.class.template)
      @path = Dir.mktmpdir("forum")
      FileUtils.cp_r("#{template.path}/.", path) if template
    end

    # Runs one of the forum's programs on it.
    def command(*command)
      environment = FORUM.environment.merge("FORUM_STORAGE" => path, "BUNDLE_GEMFILE" => FORUM.gemfile)
      output, status = Bundler.with_unbundled_env do
        Open3.capture2e(environment, *command, chdir: FORUM.directory)
      end
      raise "#{command.join(" ")}: #{output}" unless status.success?
    end

    def remove
      FileUtils.rm_rf(path)
    end
  end
end

# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "open3"
require "rbconfig"

module Cuttle
  module Lab
    module Servers
      # A peer's own gem directory, so that no peer changes the gems of another.
      class GemDirectory
        ROOT = File.expand_path("../../../..", __dir__)

        # In a clone: below tmp/. For an installed gem: below the user's cache. Raises Failure if +ruby+ is no Ruby.
        def self.directory(ruby = RbConfig.ruby)
          base = File.exist?("#{ROOT}/Rakefile") ? "#{ROOT}/tmp" : "#{Dir.home}/.cache/cuttle"
          "#{base}/peers/#{title(ruby)}"
        end

        # Such as "ruby-4.0.5".
        def self.title(ruby)
          return "#{RUBY_ENGINE}-#{RUBY_VERSION}" if ruby == RbConfig.ruby

          title, status = Open3.capture2(ruby, "-e", 'print RUBY_ENGINE, "-", RUBY_VERSION')
          status.success? ? title : raise(Failure, "it is not a working Ruby")
        end
        private_class_method :title

        attr_reader :path

        # gems: "name", "name:version" or a file each, the server's first. flags: further words for `gem install`. ruby:
        # the path of the Ruby that they are for.
        def initialize(name, gems, flags = [], ruby: RbConfig.ruby)
          @path = "#{self.class.directory(ruby)}/#{name}"
          @gems = gems
          @flags = flags
          @ruby = ruby
        end

        # The version of the server's gem, or nil.
        def version
          gem = @gems.first.split(":").first
          files = Dir["#{path}/specifications/#{gem}-*.gemspec"]
          files.filter_map { |file| file[/-(\d[\w.]*?)(-x86.*)?\.gemspec/, 1] }.max_by { |text| Gem::Version.new(text) }
        end

        def installed?
          File.exist?(stamp)
        end

        # Installs the gems. Returns nil, or a line that says why the installation failed.
        def install
          FileUtils.mkdir_p(path)
          log = "#{path}/install.log"
          done = system(Server::CLEAN, @ruby, "-S", "gem", "install", "--no-document", "--minimal-deps",
                        "-i", path, *@gems, *@flags, out: log, err: %i[child out])
          return FileUtils.touch(stamp) && nil if done

          lines = File.readlines(log).map(&:strip).grep(/\S/)
          lines.find { |line| line.match?(/requires Ruby|could not find|failed to build/i) } || lines.last
        end

        def environment
          { "GEM_HOME" => path, "GEM_PATH" => path, "PATH" => "#{path}/bin:#{ENV.fetch("PATH")}" }
        end

        private

        # The file that marks a complete installation.
        def stamp
          "#{path}/.installed-#{Digest::SHA256.hexdigest(@gems.inspect)[0, 12]}"
        end
      end
    end
  end
end

# frozen_string_literal: true

require "fileutils"
require_relative "clone"

# Ruby 4 with YJIT beside the machine's Ruby, for tests: unpacked below tmp/ruby4/, with a copy of this clone, because a
# compiled extension belongs to one Ruby.
module Ruby4
  ARCHIVE = "../shared/ruby-4.0.5-debian12-x86_64.tar.xz"
  DIRECTORY = "#{Clone::ROOT}/tmp/ruby4"
  TREE = "#{DIRECTORY}/tree"

  class << self
    # The archive, or a directory with what is in one.
    def source
      File.expand_path(ENV.fetch("CUTTLE_RUBY4", ARCHIVE), Clone::ROOT)
    end

    def missing?
      !File.exist?(source)
    end

    # Runs bin/test of the copy, as it is now, with +files+. True if they pass.
    def test(files)
      unpack unless File.exist?("#{home}/bin/ruby")
      copy
      Bundler.with_unbundled_env { system(environment, "#{home}/bin/ruby", "bin/test", *files, chdir: TREE) }
    end

    private

    # Each archive has a directory of its own.
    def home
      File.directory?(source) ? source : "#{DIRECTORY}/#{File.basename(source).sub(/\.tar\..*\z/, "")}"
    end

    # By a rename: what an interrupt leaves is not taken for Ruby.
    def unpack
      FileUtils.rm_rf("#{home}.new")
      FileUtils.mkdir_p("#{home}.new")
      system("tar", "-xf", source, "-C", "#{home}.new", "--strip-components=1", exception: true)
      File.rename("#{home}.new", home)
    end

    # The clone's files, but what Ruby 4 left there earlier: gems, objects of the extension.
    def copy
      FileUtils.mkdir_p(TREE)
      kept = %w[tmp vendor Gemfile.lock].map { |name| "#{TREE}/#{name}" }
      FileUtils.rm_rf(Dir.glob("#{TREE}/*", File::FNM_DOTMATCH).reject { |path| path.end_with?("/.", "/..") } - kept)
      files = IO.popen(%w[git ls-files -z --cached --others --exclude-standard], chdir: Clone::ROOT, &:read).split("\0")
      files.select { |file| File.exist?("#{Clone::ROOT}/#{file}") }.each do |file|
        FileUtils.mkdir_p("#{TREE}/#{File.dirname(file)}")
        FileUtils.copy_entry("#{Clone::ROOT}/#{file}", "#{TREE}/#{file}", true) # with its times, for make
      end
    end

    # The copy installs its own gems, also where bin/test has installed all that the clone needs.
    def environment
      { "PATH" => "#{home}/bin:#{ENV.fetch("PATH")}", "RUBY_YJIT_ENABLE" => "1", "CUTTLE_SETUP" => nil }
    end
  end
end

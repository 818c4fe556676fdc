# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "packages"

# A clone of the repository, for the programs in bin/: whether it is ready, and how to load it. bin/setup makes it ready
# (setup.rb). When nothing is missing, #make_ready is silent and quick.
module Clone
  ROOT = File.expand_path("../..", __dir__)
  STAMP = "#{ROOT}/tmp/setup/compiled"

  class << self
    # Loads the bundle into this process. If gems or the compiled extensions are missing, runs bin/setup first and
    # starts the process again, because Bundler looks for gems only once. Ends the process if bin/setup fails.
    def make_ready
      choose_bundle
      again = ENV["CUTTLE_AGAIN"] == Process.pid.to_s # exec keeps the process's number; what we start has others
      return if bundle_loaded? && compiled?

      exit 1 if again || !set_up("--serve")
      exec({ "CUTTLE_AGAIN" => Process.pid.to_s }, RbConfig.ruby, $PROGRAM_NAME, *ARGV)
    end

    # Runs bin/setup. Returns whether it succeeded.
    def set_up(*arguments)
      outside { system(RbConfig.ruby, "#{ROOT}/bin/setup", *arguments) }
    end

    # Whether the gems of +gemfile+ are there. Installs them if it may.
    def bundle(gemfile)
      outside do
        environment = { "BUNDLE_GEMFILE" => gemfile }
        system(environment, "bundle", "check", out: File::NULL, err: File::NULL) || install(environment)
      end
    end

    # Runs the block without this process's bundle, so that its commands can have another.
    def outside
      return yield unless defined?(Bundler)

      Bundler.with_unbundled_env do
        choose_bundle
        yield
      end
    end

    # Whether the compiled extensions belong to this Ruby and to the sources as they are.
    def compiled?
      core = "#{ROOT}/lib/cuttle/core.#{RbConfig::CONFIG["DLEXT"]}"
      File.exist?(STAMP) && File.read(STAMP) == sources && File.exist?(core)
    end

    # Records that the extensions are compiled.
    def compiled!
      File.write(STAMP, sources)
    end

    # Uses our bundle, unless the caller's environment names another. Debian's directory of gems belongs to root.
    def choose_bundle
      ENV["BUNDLE_GEMFILE"] ||= "#{ROOT}/Gemfile"
      ENV["BUNDLE_PATH"] ||= "#{ROOT}/vendor/bundle" unless File.writable?(Gem.dir)
    end

    def say(line)
      warn "cuttle: #{line}"
    end

    private

    def bundle_loaded?
      require "bundler"
      Bundler.ui.silence { Bundler.setup }
      true
    rescue Bundler::BundlerError
      false
    rescue LoadError
      abort "cuttle: Bundler is missing: gem install bundler"
    end

    def install(environment)
      gemfile = environment.fetch("BUNDLE_GEMFILE").delete_prefix("#{ROOT}/")
      unless Packages.install?
        say "missing: gems of #{gemfile} (bundle install)"
        return false
      end
      say "installing the gems of #{gemfile} (bundle install)"
      system({ "BUNDLE_SILENCE_ROOT_WARNING" => "1" }.merge(environment), "bundle", "install", "--quiet", chdir: ROOT)
    end

    # What a compiled extension depends on.
    def sources
      files = Dir["#{ROOT}/{ext/**/*.{c,h,rb},rakelib/compile.rake,tmp/belongs/*}"]
      [RUBY_DESCRIPTION, *files.map { |file| "#{file} #{File.mtime(file).to_f} #{File.size(file)}" }].join("\n")
    end
  end
end

# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "packages"

# A clone of the repository that makes itself ready: gems, then the compiled extension. Says each step that it takes in
# one line on standard error; where nothing is to do, it is silent and quick. What it leaves is below tmp/ and vendor/,
# and beside the files in lib/ that load it: nothing that git would see.
module Clone
  ROOT = File.expand_path("../..", __dir__)
  STAMP = "#{ROOT}/tmp/setup/compiled"

  class << self
    # Loads the bundle into this process and compiles what has changed. Ends the process where that can't be.
    def make_ready
      choose_bundle
      FileUtils.mkdir_p(File.dirname(STAMP))
      File.open("#{STAMP}.lock", File::CREAT | File::RDWR) do |lock| # two starts at once: the second one waits
        lock.flock(File::LOCK_EX)
        load_bundle
        compile unless compiled?
      end
    end

    # Whether the bundle of +gemfile+ is there, if need be after installing it.
    def bundle(gemfile)
      outside do
        environment = { "BUNDLE_GEMFILE" => gemfile }
        system(environment, "bundle", "check", out: File::NULL, err: File::NULL) || install(environment)
      end
    end

    # Without this process's bundle, so that commands in the block can have another.
    def outside
      Bundler.with_unbundled_env do
        choose_bundle
        yield
      end
    end

    def say(line)
      warn "cuttle: #{line}"
    end

    private

    # Ours, unless the caller's environment names another. Debian's directory of gems belongs to root.
    def choose_bundle
      ENV["BUNDLE_GEMFILE"] ||= "#{ROOT}/Gemfile"
      ENV["BUNDLE_PATH"] ||= "#{ROOT}/vendor/bundle" unless File.writable?(Gem.dir)
    end

    def load_bundle
      require "bundler"
      Bundler.ui.silence { Bundler.setup }
      ENV.delete("CUTTLE_BUNDLED")
    rescue Bundler::BundlerError => error
      abort "cuttle: #{error.message}" if ENV["CUTTLE_BUNDLED"] || !install
      # Bundler does not look twice in one process.
      exec({ "CUTTLE_BUNDLED" => "1" }, RbConfig.ruby, $PROGRAM_NAME, *ARGV)
    rescue LoadError
      abort "cuttle: Bundler is missing: gem install bundler"
    end

    def install(environment = {})
      say "installing gems (bundle install)"
      system({ "BUNDLE_SILENCE_ROOT_WARNING" => "1" }.merge(environment), "bundle", "install", "--quiet", chdir: ROOT)
    end

    def compile
      missing = Packages.install(Packages::BUILD)
      abort "cuttle: to compile the extension, install #{missing.map(&:package).uniq.join(", ")}" if missing.any?

      say "compiling the extension (rake compile)"
      log = "#{STAMP}.log"
      done = system("bundle", "exec", "rake", "compile", "--silent", chdir: ROOT, out: log, err: %i[child out])
      abort "#{File.read(log)}cuttle: the extension does not compile" unless done
      File.write(STAMP, sources)
    end

    def compiled?
      File.exist?(STAMP) && File.read(STAMP) == sources && Dir["#{ROOT}/lib/cuttle/*.#{RbConfig::CONFIG["DLEXT"]}"].any?
    end

    # What a compiled extension depends on.
    def sources
      files = Dir["#{ROOT}/{ext/**/*.{c,h,rb},rakelib/compile.rake,tmp/belongs/*}"]
      [RUBY_DESCRIPTION, *files.map { |file| "#{file} #{File.mtime(file).to_f} #{File.size(file)}" }].join("\n")
    end
  end
end

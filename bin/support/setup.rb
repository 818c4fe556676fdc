# frozen_string_literal: true

require_relative "clone"
require_relative "../../fuzz/tools"

# What bin/setup does. It says each step in one line on standard error. It writes below tmp/ and vendor/, and beside the
# files in lib/ that load an extension: git sees none of it. With CUTTLE_SETUP=no it installs nothing and names what is
# missing.
module Setup
  class << self
    # Everything that `cuttle` needs. Returns whether it is there.
    def serve
      FileUtils.mkdir_p(File.dirname(Clone::STAMP))
      File.open("#{Clone::STAMP}.lock", File::CREAT | File::RDWR) do |lock| # of two at once, the second one waits
        lock.flock(File::LOCK_EX)
        build_tools && Clone.bundle(ENV.fetch("BUNDLE_GEMFILE")) && (Clone.compiled? || compile)
      end
    end

    # Everything that the tests can use beyond that. Tests whose tools are missing skip.
    def test
      missing(Packages.install(Packages::TEST), "tests that need it skip")
      %w[rack2 jruby].each { |name| Clone.bundle("#{Clone::ROOT}/gemfiles/#{name}.gemfile") }
      Clone.outside { system(RbConfig.ruby, "#{Clone::ROOT}/examples/setup", out: File::NULL) }
      Fuzzing::Tools.set_up
      Fuzzing::Tools.missing.each { |line| Clone.say(line) }
    end

    private

    def build_tools
      missing(Packages.install(Packages::LIBRARIES), "ssl:// is refused without it")
      missing(Packages.install(Packages::BUILD), "needed").none?
    end

    def missing(packages, consequence)
      packages.each { |package| Clone.say "missing: #{package.package} (#{package.purpose}); #{consequence}" }
    end

    def compile
      Clone.say "compiling the extension (rake compile)"
      log = "#{Clone::STAMP}.log"
      done = system("bundle", "exec", "rake", "compile", "--silent", chdir: Clone::ROOT, out: log, err: %i[child out])
      done ? Clone.compiled! : warn("#{File.read(log)}cuttle: the extension does not compile")
      done
    end
  end
end

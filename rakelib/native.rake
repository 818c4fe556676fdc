# frozen_string_literal: true

# Precompiled gems of the server, by the conventions of rake-compiler and rake-compiler-dock: lib/cuttle/X.Y/core.so (or
# .bundle) for each version of Ruby. They are built to be tried; nothing publishes them. The lab has none, because it
# links the OpenSSL that is there.
#
#   rake gem:native                 one gem for each platform into pkg/, in rake-compiler-dock's containers
#   rake gem:native:PLATFORM        that one
#   rake gem:native:here            one for the Ruby and the platform at hand, without a container
#
# With RUBY_CC_VERSION (Rubies to build for) and CUTTLE_PLATFORM, as in a container, there are rake-compiler's tasks.
NATIVE_PLATFORMS = %w[x86_64-linux-gnu x86_64-linux-musl aarch64-linux-gnu aarch64-linux-musl x86_64-darwin
                      arm64-darwin].freeze
NATIVE_RUBIES = Gem::Specification.load("cuttle.gemspec").required_ruby_version

# rake-compiler builds for another platform by a table of rbconfig.rb files in HOME, and takes mkmf.rb from the
# directory above each. With this Ruby's own there, the gem for the platform at hand is made as in a container.
NATIVE_HOME = "tmp/native"

if ENV["RUBY_CC_VERSION"]
  require "rake/extensiontask"
  require "rubygems/package_task"

  rubies = ENV["RUBY_CC_VERSION"].split(":")
  specification = Gem::Specification.load("cuttle.gemspec")
  Gem::PackageTask.new(specification)
  Rake::ExtensionTask.new("core", specification) do |extension|
    extension.ext_dir = "ext/cuttle"
    # rake-compiler adds the directory of a version only where there are several.
    extension.lib_dir = rubies.one? ? "lib/cuttle/#{rubies.first[/\d+\.\d+/]}" : "lib/cuttle"
    extension.tmp_dir = "#{NATIVE_HOME}/build"
    extension.cross_compile = true
    extension.cross_platform = ENV.fetch("CUTTLE_PLATFORM")
    extension.cross_compiling { |gem| gem.files.reject! { |file| file.start_with?("ext/") } }
  end
end

# Copies of files from an earlier build, which may be other files by now.
def native_forget(platform)
  rm_rf ["#{NATIVE_HOME}/build/#{platform}", *Dir["pkg/cuttle-*-#{platform.delete_suffix("-gnu")}*/"]], verbose: false
end

def native_docker?
  system("docker", "info", %i[out err] => File::NULL)
end

NATIVE_PLATFORMS.each do |platform|
  desc "Build the precompiled gem for #{platform} (needs docker)"
  task "gem:native:#{platform}" do
    next puts "gem:native:#{platform}: not built: this needs docker, which does not run here" unless native_docker?

    native_forget(platform)
    require "rake_compiler_dock"
    rubies = RakeCompilerDock.ruby_cc_version(NATIVE_RUBIES)
    RakeCompilerDock.sh(<<~SHELL, platform: platform)
      export BUNDLE_WITHOUT=development CUTTLE_PLATFORM=#{platform} RUBY_CC_VERSION=#{rubies}
      bundle install && bundle exec rake cross native:cuttle:#{platform} gem
    SHELL
  end
end

desc "Build the precompiled gems for all platforms into pkg/ (needs docker)"
task "gem:native" => NATIVE_PLATFORMS.map { |platform| "gem:native:#{platform}" }

desc "Build the precompiled gem for this Ruby and this platform into pkg/"
task "gem:native:here" do
  platform = Gem::Platform.local.to_s
  native_forget(platform)
  files = "#{File.expand_path(NATIVE_HOME)}/ruby"
  mkdir_p ["#{NATIVE_HOME}/.rake-compiler", "#{files}/arch"], verbose: false
  File.write("#{files}/arch/rbconfig.rb", "load #{$LOADED_FEATURES.grep(%r{/rbconfig\.rb\z}).first.inspect}\n")
  cp $LOAD_PATH.resolve_feature_path("mkmf").last, files, verbose: false
  File.write("#{NATIVE_HOME}/.rake-compiler/config.yml",
             "rbconfig-#{platform}-#{RUBY_VERSION}: #{files}/arch/rbconfig.rb\n")
  environment = { "HOME" => File.expand_path(NATIVE_HOME), "CUTTLE_PLATFORM" => platform,
                  "RUBY_CC_VERSION" => RUBY_VERSION }
  sh(environment, "bundle", "exec", "rake", "--quiet", "cross", "native:cuttle:#{platform}", "gem", verbose: false)
end

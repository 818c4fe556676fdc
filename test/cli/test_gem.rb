# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "rubygems/package"

# The gems as users get them: built, installed into an empty GEM_HOME (which compiles them), and run outside the clone.
class TestGem < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = "run ->(_env) { [200, { 'content-type' => 'text/plain' }, ['from the gem']] }"

  def setup
    File.write("#{@directory}/config.ru", APP)
  end

  # One after the other in the same directory, because compiling takes long.
  def test_they_install_and_work
    install(build("cuttle"))
    assert_the_server_works_without_the_lab
    install(build("cuttle-lab"))
    assert_the_lab_works
  end

  # For machines without a compiler. (make is asked for by RubyGems.)
  def test_the_server_without_its_extension
    install(build("cuttle"), "CUTTLE_CORE" => "pure", "CC" => "false")
    assert_empty Dir["#{@directory}/home/**/*.so"].grep(/cuttle/)
    served do |process|
      assert_equal "from the gem", get(process).body
      assert_match(/\Acuttle: serving with the core in Ruby, which is slow; core native: it is not compiled here.*\n\z/,
                   process.err)
    end
    out, status = outcome("cuttle", "serve", "--core", "native")
    assert_equal 2, status.exitstatus
    assert_match(/\Acuttle: core native: it is not compiled here: install the gem without CUTTLE_CORE=pure/, out)
  end

  # The programs in PATH are Ruby's alone.
  def test_the_precompiled_gem_needs_no_compiler
    install(precompiled, "PATH" => only_ruby)
    library, = Dir["#{@directory}/home/**/core.#{RbConfig::CONFIG["DLEXT"]}"]
    assert_match(%r{/lib/cuttle/#{RUBY_VERSION[/\d+\.\d+/]}/core\.\w+\z}, library)
    served { |process| assert_equal "from the gem", get(process).body }
  end

  def test_the_gem_for_jruby
    package = Gem::Package.new(build("cuttle", "CUTTLE_PLATFORM" => "java"))
    assert_equal "java", package.spec.platform.to_s
    assert_empty package.spec.extensions
    assert_empty package.contents.grep(/\Aext/)
    assert_includes package.contents, "lib/cuttle/cores/pure.rb"
  end

  # Each source is in one of the gems, and nothing is that was only made here.
  def test_contents
    server, lab = %w[cuttle cuttle-lab].map { |name| Gem::Package.new(build(name)).contents }
    sources = Dir["{lib,ext}/**/*.{rb,c,h,css}", "exe/*", base: ROOT]
    assert_equal sources.sort, ((server + lab) & sources).sort
    assert_empty server & lab & sources
    assert_empty server.grep(%r{ext/cuttle_load|cuttle/(cli/)?(lab|load|report|stud|tune)\w*[./]})
    [server, lab].each do |contents|
      assert_empty contents.grep(/\.(so|o|bundle)\z|\A(test|tmp|bin)\//)
      %w[CHANGELOG.md LICENSE].each { |file| assert_includes contents, file }
    end
    %w[README.md man/cuttle.1 docs/migrating-from-puma.md].each { |file| assert_includes server, file }
  end

  private

  def assert_the_server_works_without_the_lab
    assert_equal "cuttle #{Cuttle::VERSION}", command("cuttle", "--version")[/\A\S+ \S+/]
    served { |process| assert_equal "from the gem", get(process).body }
    %w[load lab tune advise study].each do |name|
      out, status = outcome("cuttle", name, "--help")
      assert_equal 1, status.exitstatus
      assert_match(/\Acuttle: .*gem install cuttle-lab.*\n\z/, out)
    end
  end

  def assert_the_lab_works
    served do |process|
      out = command("cuttle", "load", "#{process.uris.first}/", "-n", "20", "--json", "-")
      assert_equal 20, JSON.parse(out[/^{.*}$/]).fetch("responses")
    end
    out = command("cuttle", "lab", "config.ru", "--engines", "hybrid,single", "--workers", "0", "--concurrency", "1",
                  "--rounds", "2", "--duration", "200ms", "--warmup", "100ms")
    assert_match(/^ *hybrid\b.*[1-9]/, out)
    assert_match(/^ *q1\b/, command("cuttle", "study"))
  end

  def build(name, variables = {})
    path = "#{@directory}/#{name}.gem"
    out = command("gem", "build", "#{name}.gemspec", "--output", path, chdir: ROOT, variables: variables)
    assert_empty out.lines.grep(/WARNING/).grep_v(/no homepage|guides/)
    path
  end

  # A directory with Ruby's commands, for PATH.
  def only_ruby
    "#{@directory}/tools".tap do |directory|
      Dir.mkdir(directory)
      File.symlink(RbConfig.ruby, "#{directory}/ruby")
      File.symlink("#{RbConfig::CONFIG["bindir"]}/gem", "#{directory}/gem")
    end
  end

  # Built as in rake-compiler-dock's containers, without one.
  def precompiled
    out, status = Open3.capture2e("bundle", "exec", "rake", "gem:native:here", chdir: ROOT)
    assert_predicate status, :success?, out
    path = "#{ROOT}/pkg/#{out[/File: (\S+\.gem)/, 1]}"
    package = Gem::Package.new(path)
    assert_equal Gem::Platform.local.to_s, package.spec.platform.to_s
    assert_empty package.spec.extensions
    assert_empty package.contents.grep(/\Aext/)
    path
  end

  # Rack comes from the cache of what the tests run with, so that no network is needed; without one, from its source.
  def install(gem, variables = {})
    rack = Gem.loaded_specs.fetch("rack").cache_file
    files = [*(rack if File.exist?(rack)), gem]
    command("gem", "install", "--no-document", *("--local" if files.length > 1), *files, "--",
            "--with-cflags=-O0", variables: variables)
  end

  # Environment without the clone's bundle.
  def environment
    { "GEM_HOME" => "#{@directory}/home", "GEM_PATH" => "#{@directory}/home", "RUBYOPT" => nil, "RUBYLIB" => nil,
      "PATH" => "#{@directory}/home/bin:#{ENV.fetch("PATH")}",
      "BUNDLE_GEMFILE" => nil, "CUTTLE_SANITIZE" => nil, "LD_PRELOAD" => nil }
  end

  def outcome(*command, chdir: @directory, variables: {})
    out, status = Open3.capture2e(environment.merge(variables), *command, chdir: chdir)
    [out.force_encoding(Encoding::UTF_8), status]
  end

  # What it says, of a command that succeeds.
  def command(*command, **options)
    out, status = outcome(*command, **options)
    assert_predicate status, :success?, "#{command.join(" ")}: #{out}"
    out
  end

  def served
    arguments = %w[serve -b tcp://127.0.0.1:0]
    process = ServingProcess.new(["#{@directory}/home/bin/cuttle", *arguments], env: environment, chdir: @directory,
                                                                                 paths: [])
    process.wait_until_ready
    yield process
  ensure
    process&.finish
  end
end

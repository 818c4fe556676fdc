# frozen_string_literal: true

require "test_helper"
require "open3"
require "rubygems/package"

# The gem as users get it: built, installed into an empty GEM_HOME (which compiles it), and run outside the clone.
class TestGem < Minitest::Test
  include Serving

  APP = "run ->(_env) { [200, { 'content-type' => 'text/plain' }, ['from the gem']] }"

  def setup
    @directory = Dir.mktmpdir("cuttle")
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_it_installs_and_serves_elsewhere
    gem = build
    assert_contents gem
    install(gem)
    File.write("#{@directory}/config.ru", APP)
    assert_equal "cuttle #{Cuttle::VERSION}", command("#{@directory}/home/bin/cuttle", "--version")[/\A\S+ \S+/]
    served { |process| assert_equal "from the gem", get(process).body }
  end

  private

  def build
    out = command("gem", "build", "cuttle.gemspec", "--output", "#{@directory}/cuttle.gem", chdir: ROOT)
    assert_empty out.lines.grep(/WARNING/).grep_v(/no homepage|guides/)
    "#{@directory}/cuttle.gem"
  end

  # Everything that runs, and nothing that was only made here.
  def assert_contents(gem)
    contents = Gem::Package.new(gem).contents
    sources = Dir["{lib,ext}/**/*.{rb,c,h}", "exe/*", base: ROOT]
    assert_empty sources - contents
    assert_empty contents.grep(/\.(so|o|bundle)\z|\A(test|tmp|bin)\//)
    %w[README.md CHANGELOG.md LICENSE].each { |file| assert_includes contents, file }
  end

  # Rack comes from the cache of what the tests run with, so that no network is needed; without one, from its source.
  def install(gem)
    rack = Gem.loaded_specs.fetch("rack").cache_file
    files = [*(rack if File.exist?(rack)), gem]
    command("gem", "install", "--no-document", *("--local" if files.length > 1), *files)
  end

  # Environment without the clone's bundle.
  def environment
    { "GEM_HOME" => "#{@directory}/home", "GEM_PATH" => "#{@directory}/home", "RUBYOPT" => nil, "RUBYLIB" => nil,
      "BUNDLE_GEMFILE" => nil, "CUTTLE_SANITIZE" => nil, "LD_PRELOAD" => nil }
  end

  def command(*command, chdir: @directory)
    out, status = Open3.capture2e(environment, *command, chdir: chdir)
    assert status.success?, "#{command.join(" ")}: #{out}"
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

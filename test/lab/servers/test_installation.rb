# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# Cuttle under another Ruby than the lab's. A script stands for that Ruby: it runs this one, whose path is different.
class TestLabInstallation < Minitest::Test
  Setup = Cuttle::Lab::Servers::Setup
  LOADED = 'puts $LOADED_FEATURES.grep(%r{/(core|cuttle)\.(so|bundle|rb)\z})'

  def setup
    @directory = Dir.mktmpdir
    @peer = Cuttle::Lab::Servers::Peers::Cuttle.new("cuttle")
  end

  def teardown
    FileUtils.rm_rf(@directory)
  end

  def test_it_runs_files_that_were_installed_for_that_ruby
    setup = setup_for(ruby("exec #{RbConfig.ruby} \"$@\""))
    assert_nil @peer.supports?(setup)
    features = loaded(setup)
    assert_operator features.grep(/core/).length, :>=, 1
    assert_empty(features.reject { |path| path.start_with?(root(setup)) })
  end

  def test_it_is_installed_once
    setup = setup_for(ruby("exec #{RbConfig.ruby} \"$@\""))
    assert_nil @peer.supports?(setup)
    library = Dir["#{root(setup)}/lib/cuttle/core.*"].first
    before = File.stat(library).ino
    assert_nil Cuttle::Lab::Servers::Peers::Cuttle.new("cuttle").supports?(setup)
    assert_equal before, File.stat(library).ino
  end

  def test_what_is_no_ruby_is_refused
    { ruby("exit 1") => "it is not a working Ruby", "#{@directory}/none" => "No such file" }.each do |path, reason|
      assert_includes @peer.supports?(setup_for(path)), "can't be installed for #{path}: #{reason}"
    end
  end

  private

  def ruby(script)
    path = "#{@directory}/ruby#{script.length}"
    File.write(path, "#!/bin/sh\n#{script}\n", perm: 0o755)
    path
  end

  def setup_for(ruby)
    Setup.new(model: "single", workers: 0, threads: 1, keep_alive: true, ruby: ruby, app: "app.ru", port: 1)
  end

  # The directory of the files that run.
  def root(setup)
    @peer.command(setup).find { |word| word.start_with?("-I") }[/-I(.*)\/lib/, 1]
  end

  # The files of Cuttle that the server's command loads.
  def loaded(setup)
    ruby, path = @peer.command(setup)
    output, status = Open3.capture2e(@peer.environment(setup), ruby, path, "-rcuttle", "-e",
                                     "Cuttle::Poller; Cuttle::Server; #{LOADED}")
    assert_predicate status, :success?, output
    output.lines.map(&:chomp)
  end
end

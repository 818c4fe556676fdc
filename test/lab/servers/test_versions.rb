# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# Which versions of other servers are installed.
class TestLabPeerVersions < Minitest::Test
  Peers = Cuttle::Lab::Servers::Peers
  OTHERS = Cuttle::Lab::Servers::Peers.all.select(&:gems)
  LIB = File.expand_path("../../../lib", __dir__)

  # `cuttle lab peers --install puma` below a directory that it is given, with whatever `gem` is on the PATH.
  INSTALL = <<~RUBY
    require "cuttle"
    require "cuttle/cli/lab"
    directory = ARGV.first
    Cuttle::Lab::Servers::GemDirectory.define_singleton_method(:directory) { |*| directory }
    exit Cuttle::CLI::Lab::Peers.new(out: $stdout, err: $stderr).run(%w[--install puma])
  RUBY

  def test_every_gem_has_a_version_that_was_tested
    suited = OTHERS.reject { |peer| Gem::Version.new(peer.since) > Gem::Version.new("3.1") }
    assert_empty suited.flat_map { |peer| Peers.pin(peer.gems, ruby: "3.1.9") }.grep_v(/\A[\w-]+:\d+(\.\w+)+\z/)
    assert_equal %w[puma:8.0.2 rack:3.2.8], Peers.pin(%w[puma rack], ruby: "3.1.2")
    assert_equal %w[rack:2.2.25], Peers.pin(%w[rack:<3], ruby: "3.1.2")
  end

  def test_a_ruby_that_nobody_tested_with_gets_the_newest
    assert_equal %w[puma rack:<3], Peers.pin(%w[puma rack:<3], ruby: "9.0.0")
  end

  def test_what_is_installed_is_what_was_tested
    here = OTHERS.reject(&:unavailable)
    skip "no other server is installed" if here.empty?

    here.each do |peer|
      version = Peers.pin(peer.gems).first[/:(\d.*)/, 1]
      assert_equal version, peer.version, peer.name if version
    end
  end

  def test_a_server_that_this_ruby_is_too_old_for
    peer = Class.new(Peers::Peer) { def since = "99.1" }.new("late")
    assert_equal "needs Ruby 99.1 or newer", peer.unavailable
    assert_equal RUBY_VERSION.to_i < 4, Peers.find("kino").unsuited == "needs Ruby 4.0 or newer"
    assert_equal RUBY_VERSION.to_i >= 4, Peers.find("unicorn").unsuited == "crashes on Ruby 4.0 and newer"
    assert_nil Peers.find("pitchfork").unsuited
  end

  # Its text has a version, but another program's.
  def test_a_program_that_can_not_say_its_version_is_for_another_ruby
    Dir.mktmpdir do |directory|
      program = "#{directory}/other"
      File.write(program, "#!/bin/sh\necho /usr/lib/ruby/9.8.7: cannot load such file; exit $STATUS\n", perm: 0o755)
      peer = Class.new(Peers::Peer) do
        def package = "other"
        define_method(:executable) { program }
      end.new("other")
      assert_equal "#{program} --version fails: is it for another Ruby than #{RUBY_VERSION}?",
                   with_status("1") { peer.unavailable }
      assert_equal [nil, "9.8.7"], with_status("0") { [peer.unavailable, peer.version] }
    end
  end

  def test_an_installation_starts_again
    Dir.mktmpdir do |directory|
      write_gem directory, <<~RUBY
        require "fileutils"
        File.write("said", [RbConfig.ruby, *ARGV].join(" "))
        FileUtils.mkdir_p("puma/specifications")
        FileUtils.touch("puma/specifications/puma-12.3.gemspec")
      RUBY
      FileUtils.mkdir_p("#{directory}/puma/gems/puma-99.0")
      out, status = install(directory)
      assert status.success?, out
      assert_match(/^puma +12\.3 /, out)
      wanted = Peers.pin(%w[puma rack rackup]).join(" ")
      said = File.read("#{directory}/said")
      assert_includes said, "-i #{directory}/puma #{wanted}"
      assert_operator said, :start_with?, RbConfig.ruby
      refute File.exist?("#{directory}/puma/gems")
    end
  end

  def test_an_installation_that_fails_says_why
    Dir.mktmpdir do |directory|
      write_gem directory, 'abort "ERROR: puma requires Ruby version >= 9"'
      out, status = install(directory)
      assert_equal 1, status.exitstatus
      assert_match(/cuttle: puma: ERROR: puma requires Ruby/, out)
    end
  end

  private

  def with_status(status)
    ENV["STATUS"] = status
    yield
  ensure
    ENV.delete("STATUS")
  end

  # A `gem` on the PATH that another Ruby would run, if it were not asked for this one.
  def write_gem(directory, code)
    File.write("#{directory}/gem", "#!/no/such/ruby\nDir.chdir(__dir__)\n#{code}\n", perm: 0o755)
  end

  def install(directory)
    environment = { "PATH" => "#{directory}:#{ENV.fetch("PATH")}" }
    Open3.capture2e(environment, RbConfig.ruby, "-I#{LIB}", "-e", INSTALL, directory)
  end
end

# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# The command line and the gem, run by JRuby (CUTTLE_SERVER_RUBY; see rake test:jruby).
class TestJRubyPrograms < Minitest::Test
  include Serving

  HELLO = "#{ROOT}/examples/hello.ru"

  def test_serves_with_the_core_in_ruby
    serving_process(HELLO, "--docroot", "#{ROOT}/docs", env: { "WEB_CONCURRENCY" => "2" }) do |process|
      assert_equal "Hello, world!\n", get(process).body
      assert_equal File.read("#{ROOT}/docs/static.md"), get(process, "/static.md").body.force_encoding("UTF-8")
      assert_match(/^Cuttle \S+ on jruby/, process.out)
      assert_equal %w[0 pure], process.out.scan(/^  (?:workers|parser) +(.*)$/).flatten
      assert_equal 0, process.stop.exitstatus
      assert_equal "", process.err
    end
  end

  def test_one_line_names_what_jruby_lacks
    { %w[-w 2] => /--workers 2: jruby can't fork; .*/, %w[--core native] => /core native: there is none for jruby.*/,
      %w[--engine fibers] => /engine fibers needs a fiber scheduler, which jruby .* lacks.*/,
      %w[--engine ractors] => /engine ractors needs Ruby 4.0 or newer; this is jruby .*/ }.each do |flags, line|
      serving_process(HELLO, *flags) do |process|
        eventually("its end") { !process.running? }
        assert_equal 2, process.status.exitstatus, process.err
        assert_match(/\Acuttle: #{line}\nUsage: .*\n\z/, process.err)
      end
    end
  end

  # As users have it: JRuby builds, installs and runs it.
  def test_the_gem
    Dir.mktmpdir do |home|
      ruby(home, "-S", "gem", "build", "--silent", "cuttle.gemspec", "--output", "#{home}/cuttle.gem")
      rack = Gem.loaded_specs.fetch("rack").cache_file
      skip "no #{rack} to install from" unless File.exist?(rack)

      ruby(home, "-S", "gem", "install", "--local", "--no-document", rack, "#{home}/cuttle.gem")
      assert_equal ["cuttle-#{Cuttle::VERSION}-java"], Dir.children("#{home}/gems").grep(/cuttle/)
      out = ruby(home, "#{home}/bin/cuttle", "version")
      assert_match(/\Acuttle \S+ \(jruby /, out)
    end
  end

  private

  def ruby(home, *arguments)
    environment = { "GEM_HOME" => home, "GEM_PATH" => home, "RUBYOPT" => nil, "RUBYLIB" => nil }
    out, status = Open3.capture2e(environment, *ServingProcess::RUBY, *arguments, chdir: ROOT)
    assert_predicate status, :success?, out
    out
  end
end

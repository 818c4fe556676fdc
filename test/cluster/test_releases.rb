# frozen_string_literal: true

require "test_helper"
require "open3"

# Restarts in a directory that is a link to the newest release, as Capistrano makes it: releases/1 is removed when
# releases/2 is there. Each release has its own version of the gem dep.
class TestReleases < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = <<~RUBY
    require "dep"
    code = File.read("code")
    run ->(_) { [200, {}, [[code, DEP, *ENV.values_at("SAID", "LEFT")].compact.join(" ")]] }
  RUBY

  def setup
    release("1")
    link("1")
  end

  # As a shell starts it. Bundler has noted the Gemfile by its real path.
  def test_usr2_follows_the_link
    [0, 1].each do |workers|
      serve("-w", workers.to_s, env: { "PWD" => current }) do |process|
        assert_equal "1 1.0", get(process).body
        deploy(process, "USR2", "2 2.0")
        deploy(process, "USR2", "1 1.0", from: "2")
      end
    end
  end

  # systemd sets no PWD.
  def test_usr2_follows_the_link_that_the_setting_names
    configure("1", "directory #{current.inspect}")
    serve("-w", "1") do |process|
      deploy(process, "USR2", "2 2.0") { configure("2", "directory #{current.inspect}\nworkers 2\ntag 'new'") }
      # The former worker may still be about to end.
      eventually("a worker with the new tag") do
        process.workers.any? { |pid| File.read("/proc/#{pid}/cmdline").include?("[new]") }
      rescue Errno::ENOENT
        false
      end
    end
  end

  # Without --prune-bundler the gems stay. Their files are still needed then.
  def test_usr1_follows_the_link
    { %w[--prune-bundler] => "2 2.0", [] => "2 1.0" }.each do |options, answer|
      serve("-w", "2", *options, env: { "PWD" => current }) do |process|
        deploy(process, "USR1", answer, from: (options.any? ? "1" : "0"))
        eventually("its end") { process.err.include?("phased restart: done") && process.workers.length == 2 }
        eventually("its mould only") { process.moulds.one? }
        Process.kill("KILL", mould = process.moulds.first)
        eventually("the next mould") { (process.moulds - [mould]).one? }
        Process.kill("TTIN", process.pid)
        eventually("a worker of it") { process.workers.length == 3 }
        places = [*process.workers, *process.moulds].map { |pid| File.readlink("/proc/#{pid}/cwd") }
        assert_equal ["#{@directory}/releases/2"], places.uniq
        assert_equal answer, get(process).body
        deploy(process, "USR1", "3 3.0", from: "2") if options.any?
      end
    end
  end

  # As a shell's link that a deployment has broken.
  def test_usr1_without_a_directory_changes_nothing
    serve("-w", "1", env: { "PWD" => current }) do |process|
      File.unlink(current)
      Process.kill("USR1", process.pid)
      eventually("the report") { process.err.match?(/^cuttle: phased restart: No such file or directory/) }
      assert_equal "1 1.0", get(process).body
      deploy(process, "USR1", "2 1.0", from: "0")
    end
  end

  # Puma's users set BUNDLE_GEMFILE there.
  def test_before_restart_may_change_the_environment
    [0, 1].each do |workers|
      configure("1", "before_restart { ENV['SAID'] = 'hook'; ENV.delete('LEFT') }")
      serve("-w", workers.to_s, env: { "LEFT" => "left" }) do |process|
        assert_equal "1 1.0 left", get(process).body
        Process.kill("USR2", process.pid)
        eventually("the change") { get(process)&.body == "1 1.0 hook" }
      end
    end
  end

  private

  def current = "#{@directory}/current"

  def release(name)
    path = "#{@directory}/releases/#{name}"
    gem("#{path}/dep", "#{name}.0")
    files = { "config.ru" => APP, "code" => name, "Gemfile" => <<~RUBY }
      source #{Gem.sources.first.uri.to_s.inspect}
      gem "cuttle", path: #{ROOT.inspect}
      gem "dep", path: "dep"
    RUBY
    files.each { |file, text| File.write("#{path}/#{file}", text) }
    out, status = Open3.capture2e(environment(path), "bundle", "lock", "--local", chdir: path)
    assert_predicate status, :success?, out
  end

  # A gem with a constant that is its version.
  def gem(path, version)
    FileUtils.mkdir_p("#{path}/lib")
    File.write("#{path}/lib/dep.rb", "DEP = #{version.inspect}\n")
    File.write("#{path}/dep.gemspec", <<~RUBY)
      Gem::Specification.new("dep", #{version.inspect}) do |spec|
        spec.summary = spec.authors = "test"
        spec.files = ["lib/dep.rb"]
      end
    RUBY
  end

  def configure(name, text)
    FileUtils.mkdir_p("#{@directory}/releases/#{name}/config")
    File.write("#{@directory}/releases/#{name}/config/cuttle.rb", text)
  end

  def link(name)
    File.symlink("releases/#{name}", "#{current}.new")
    File.rename("#{current}.new", current)
  end

  def environment(path)
    { "BUNDLE_GEMFILE" => "#{path}/Gemfile", "RUBYLIB" => nil, "RUBYOPT" => nil, "PWD" => nil }
  end

  def serve(*options, env: {}, &block)
    release("1") unless File.directory?("#{@directory}/releases/1")
    link("1")
    env = { **environment("#{@directory}/releases/1"), "RUBYOPT" => "-rbundler/setup", **env } # as bundle exec sets it
    serving_process(*options, env: env, chdir: current, gems: true, &block)
  end

  # Another release takes the place of the present one, which is removed. Waits for the answer of the new one.
  def deploy(process, signal, answer, from: "1")
    release(answer[0])
    yield if block_given?
    link(answer[0])
    FileUtils.rm_rf("#{@directory}/releases/#{from}")
    Process.kill(signal, process.pid)
    eventually("the new release (#{process.err})") { get(process)&.body == answer }
  end
end

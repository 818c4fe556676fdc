# frozen_string_literal: true

require "test_helper"
require "open3"

# --prune-bundler: a phased restart in a bundle that has changed. The bundle has two versions of a gem by turns.
class TestBundle < Minitest::Test
  include Serving
  include TemporaryDirectory

  def setup
    %w[1.0 2.0].each { |version| gem("dep", version) }
    gem("another", "1.0")
    File.write("#{@directory}/config.ru", <<~RUBY)
      require "dep"
      found = [DEP, Gem.loaded_specs["dep"].version, Gem.loaded_specs.key?("another")].join(" ")
      run ->(_) { [200, {}, [found]] }
    RUBY
    bundle("dep" => "1.0")
  end

  def test_a_phased_restart_has_the_gems_of_the_bundle_as_it_is
    serve("--prune-bundler") do |process|
      assert_equal "1.0 1.0 false", get(process).body
      bundle("dep" => "2.0", "another" => "1.0")
      restart(process, "done")
      assert_equal "2.0 2.0 true", get(process).body
      bundle("dep" => "1.0")
      restart(process, "done")
      assert_equal "1.0 1.0 false", get(process).body
    end
  end

  def test_without_it_the_bundle_is_that_of_the_start
    serve do |process|
      bundle("dep" => "2.0", "another" => "1.0")
      restart(process, "done")
      assert_equal "1.0 1.0 false", get(process).body
    end
  end

  # Its gem is gone; then it has another version of one that the server has in memory.
  def test_a_bundle_that_can_not_be_loaded_changes_nothing
    serve("--prune-bundler") do |process|
      File.write("#{@directory}/Gemfile", "#{File.read("#{@directory}/Gemfile")}gem 'absent', path: 'absent'\n")
      restart(process, "given up, the old workers stay")
      assert_match(/^cuttle: the bundle can't be loaded in a phased restart: .*absent.*; try USR2$/, process.err)
      FileUtils.rm_rf("#{@directory}/dep-1.0")
      gem("rack", "3.99")
      bundle("dep" => "2.0", "rack" => "3.99")
      restart(process, "given up, the old workers stay")
      assert_match(/^cuttle: the bundle can't be .*already activated rack.*; try USR2$/, process.err)
      assert_equal "1.0 1.0 false", get(process).body
    end
  end

  private

  # A gem with a constant that is its version.
  def gem(name, version)
    FileUtils.mkdir_p("#{@directory}/#{name}-#{version}/lib")
    File.write("#{@directory}/#{name}-#{version}/lib/#{name}.rb", "#{name.upcase} = #{version.inspect}\n")
    File.write("#{@directory}/#{name}-#{version}/#{name}.gemspec", <<~RUBY)
      Gem::Specification.new(#{name.inspect}, #{version.inspect}) do |spec|
        spec.summary = spec.authors = "test"
        spec.files = ["lib/#{name}.rb"]
      end
    RUBY
  end

  def bundle(gems)
    lines = gems.map { |name, version| "gem #{name.inspect}, path: '#{name}-#{version}'\n" }
    File.write("#{@directory}/Gemfile", <<~RUBY)
      source #{Gem.sources.first.uri.to_s.inspect}
      gem "cuttle", path: #{ROOT.inspect}
      #{lines.join}
    RUBY
    FileUtils.rm_f("#{@directory}/Gemfile.lock")
    out, status = Open3.capture2e(environment, "bundle", "lock", "--local", chdir: @directory)
    assert_predicate status, :success?, out
  end

  def environment
    { "BUNDLE_GEMFILE" => "#{@directory}/Gemfile", "RUBYLIB" => nil, "RUBYOPT" => nil }
  end

  def serve(*options, &block)
    env = { **environment, "RUBYOPT" => "-rbundler/setup" } # as bundle exec sets it
    serving_process("#{@directory}/config.ru", "-w", "1", *options, env: env, chdir: @directory, gems: true, &block)
  end

  def restart(process, ending)
    said = process.err.length
    Process.kill("USR1", process.pid)
    eventually("the restart's end") { process.err[said..].include?("phased restart: #{ending}\n") }
    eventually("one worker") { process.workers.length == 1 && process.moulds.length == 1 }
  end
end

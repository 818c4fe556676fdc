# frozen_string_literal: true

require "test_helper"
require "net/http"
require "open3"

# An app's bundle with a server in it, made of gems that are a file each.
class TestBundled < Minitest::Test
  include TemporaryDirectory

  # As far as a Bundle looks at one.
  Server = Struct.new(:gems, :gem_directory)
  Home = Struct.new(:path)

  def setup
    @home = "#{@directory}/home"
    install "#{@directory}/gems/#{RUBY_ENGINE}/#{RbConfig::CONFIG["ruby_version"]}", "forum", "1.5"
    install @home, "server", "2.0"
    write_app %(source Gem.sources.first.uri.to_s\ngem "forum", "~> 1.0"\n)
  end

  def test_a_process_has_the_gems_of_both_and_no_others
    bundle = self.bundle("server")
    assert_equal "[\"1.5\", \"2.0\"]\n", ruby(bundle, "require 'forum'; require 'server'; p [FORUM, SERVER]")
    assert_equal "2.0", bundle.version
    assert_equal "false\n", ruby(bundle, "p Gem.loaded_specs.key?('minitest')")
  end

  def test_the_apps_own_files_stay_as_they_are
    bundle # whatever Bundler adds to it
    before = files
    bundle("server")
    assert_equal before, files
  end

  def test_a_server_without_gems_has_the_apps_bundle
    assert_equal "\"1.5\"\n", ruby(bundle, "require 'forum'; p FORUM")
  end

  def test_the_apps_own_version_of_a_server_counts
    install "#{@directory}/gems/#{RUBY_ENGINE}/#{RbConfig::CONFIG["ruby_version"]}", "server", "1.9"
    write_app %(source Gem.sources.first.uri.to_s\ngem "server", "< 2"\n)
    assert_equal "1.9", bundle("server").version
  end

  def test_a_server_that_does_not_go_with_the_app
    install @home, "picky", "1.0", "forum" => "< 1"
    error = assert_raises(Cuttle::Lab::Failure) { bundle("picky") }
    assert_match(/\Acan.t be combined with the bundle of app\.ru: .*forum.*picky.*; bundle install with gem "picky" in/,
                 error.message)
    assert_equal 1, error.message.lines.length
  end

  def test_gems_of_the_app_that_are_not_there
    write_app %(source Gem.sources.first.uri.to_s\ngem "no-such-gem-as-this"\n)
    error = assert_raises(Cuttle::Lab::Failure) { bundle("server") }
    assert_match(%r{/app/Gemfile: .*no-such-gem-as-this.*; run bundle install there\z}, error.message)
    assert_equal 1, error.message.lines.length
  end

  def test_a_peer_that_has_no_such_bundle_is_unavailable_and_says_why
    write_app %(source Gem.sources.first.uri.to_s\ngem "no-such-gem-as-this"\n)
    peer = Cuttle::Lab::Servers::Bundled::All.new(app, "#{@directory}/bundle").find("cuttle")
    assert_match(/run bundle install there\z/, peer.unavailable)
    assert_equal %w[cuttle hybrid], [peer.name, peer.models[3]]
  end

  # Each that is here, with an app whose bundle has Rack, and a library that comes with Ruby in another version.
  Cuttle::Lab::Servers::Peers.names.each do |name|
    define_method("test_#{name}_serves_an_app_with_a_bundle_of_its_own") do
      write_app %(source Gem.sources.first.uri.to_s\ngem "rack"\ngem "base64", path: "base64"\n)
      install_from_path "base64", "9.0"
      FileUtils.rm_f("#{@directory}/app/.bundle/config")
      peer = Cuttle::Lab::Servers::Bundled::All.new(app, "#{@directory}/bundle").find(name)
      skip peer.unavailable if peer.unavailable

      before = files.keys
      assert_equal "from the bundle: true", answer(peer)
      assert_equal before, files.keys
    end
  end

  private

  # A gem in the app's directory: Ruby's own library as another version.
  def install_from_path(name, version)
    FileUtils.mkdir_p("#{@directory}/app/#{name}/lib")
    shipped = "#{RbConfig::CONFIG["rubylibdir"]}/#{name}.rb"
    File.write("#{@directory}/app/#{name}/lib/#{name}.rb", File.exist?(shipped) ? File.read(shipped) : "")
    gem = Gem::Specification.new(name, version) { |spec| spec.summary = spec.authors = name }
    File.write("#{@directory}/app/#{name}/#{name}.gemspec", gem.to_ruby)
  end

  # A gem that defines its version as a constant.
  def install(home, name, version, needs = {})
    %W[#{home}/specifications #{home}/gems/#{name}-#{version}/lib].each { |path| FileUtils.mkdir_p(path) }
    File.write("#{home}/gems/#{name}-#{version}/lib/#{name}.rb", "#{name.upcase} = #{version.inspect}\n")
    gem = Gem::Specification.new(name, version) do |spec|
      spec.summary = spec.authors = name
      needs.each { |other, requirement| spec.add_dependency(other, requirement) }
    end
    File.write("#{home}/specifications/#{name}-#{version}.gemspec", gem.to_ruby)
  end

  # Bundler's setting says where the gems are; none of this process's are there.
  def write_app(gemfile)
    FileUtils.mkdir_p("#{@directory}/app/.bundle")
    File.write("#{@directory}/app/.bundle/config", "---\nBUNDLE_PATH: #{"#{@directory}/gems".inspect}\n")
    File.write("#{@directory}/app/Gemfile", gemfile)
    File.write("#{@directory}/app/config.ru", <<~CONFIG)
      run ->(_env) { [200, { "content-type" => "text/plain" }, ["from the bundle: \#{!defined?(Bundler).nil?}"]] }
    CONFIG
  end

  def app
    Cuttle::Lab::Apps::App.new(name: "app.ru", rackup: "#{@directory}/app/config.ru",
                               gemfile: "#{@directory}/app/Gemfile")
  end

  def bundle(*gems)
    Cuttle::Lab::Servers::Bundled::Bundle.new(app, Server.new(gems, Home.new(@home)), "#{@directory}/bundle")
  end

  def files
    Dir.glob("#{@directory}/app/**/*", File::FNM_DOTMATCH).select { |path| File.file?(path) }
       .to_h { |path| [path, File.read(path)] }
  end

  def ruby(bundle, code)
    output, status = Open3.capture2e({ **Cuttle::Lab::Apps.clean, **bundle.environment }, RbConfig.ruby, "-e", code)
    assert status.success?, output
    output
  end

  # The body of GET /, from that peer.
  def answer(peer)
    port = Cuttle::Lab::Servers::Ports.free
    workers = peer.workers.begin
    setup = Cuttle::Lab::Servers::Setup.new(model: peer.models.first, workers: workers, threads: 1, port: port,
                                            backlog: 512, keep_alive: peer.keeps_alive.first, app: app.rackup,
                                            directory: app.directory, env: {}, log: "#{@directory}/#{port}.log")
    server = Cuttle::Lab::Servers::Server.start(peer, setup)
    Net::HTTP.get(URI(server.url))
  ensure
    server&.stop
  end
end

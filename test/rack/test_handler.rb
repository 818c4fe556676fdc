# frozen_string_literal: true

require "test_helper"
require "open3"

# rackup -s cuttle, with the Rack of this bundle.
class TestHandler < Minitest::Test
  include Serving

  # What rackup passes whatever was asked for.
  ALWAYS = { environment: "development", pid: nil, Port: 9292, Host: "localhost", AccessLog: [],
             config: "config.ru" }.freeze

  def test_host_and_port
    assert_equal ["tcp://localhost:9292"], settings.binds
    assert_equal ["tcp://0.0.0.0:80"], settings(Host: "0.0.0.0", Port: "80").binds
    assert_equal ["tcp://[::1]:80"], settings(Host: "::1", Port: 80).binds
    assert_equal ["unix:///tmp/s"], settings(Host: "unix:///tmp/s").binds
  end

  def test_our_options_in_rackups_spelling
    said = settings(Engine: "fibers", MaxFibers: "9", Workers: "2", KeepAlive: "off", Silent: true,
                    environment: "staging")
    assert_equal ["fibers", 9, 2, false, true, "staging"],
                 [said.engine, said.max_fibers, said.workers, said.keep_alive, said.quiet, said.environment]
    [false, "false"].each { |off| refute settings(Silent: off).quiet }
    assert_equal 1..5, settings(Threads: "1:5").threads
    assert_equal "single", settings(Like: "unicorn").engine
  end

  def test_what_is_for_others_is_passed_over
    assert_equal settings.to_h, settings(DoNotReverseLookup: true, daemonize: false, user_supplied_options: []).to_h
  end

  # `rails server` passes its defaults too, and says which options the user gave.
  def test_an_address_of_the_configuration_file
    Dir.mktmpdir do |directory|
      File.write("#{directory}/cuttle.rb", "port 3000, '127.0.0.1'\nworkers 2")
      file = { Config: "#{directory}/cuttle.rb" }
      assert_equal [["tcp://127.0.0.1:3000"], 2],
                   settings(**file, user_supplied_options: []).then { |said| [said.binds, said.workers] }
      assert_equal ["tcp://localhost:9292"], settings(**file, user_supplied_options: %i[Port]).binds
      assert_equal ["tcp://localhost:9292"], settings(file).binds
      File.write("#{directory}/cuttle.rb", "workers 2")
      assert_equal ["tcp://localhost:9292"], settings(**file, user_supplied_options: []).binds
    end
  end

  # rackup passes "development" by default, and writes it into RACK_ENV.
  def test_an_environment_that_may_be_only_rackups_default
    { { "RACK_ENV" => "development" } => "development",
      { "RACK_ENV" => "development", "APP_ENV" => "production" } => "production",
      { "RACK_ENV" => "development", "RAILS_ENV" => "production" } => "production" }.each do |variables, environment|
      within(variables) { assert_equal environment, settings.environment, variables }
    end
    within("RACK_ENV" => "staging", "APP_ENV" => "production") do
      assert_equal "staging", settings(environment: "staging").environment
    end
  end

  # `rails server` passes what Rails has.
  def test_the_environment_of_rails
    within("APP_ENV" => "production") do
      assert_equal "development", settings(environment: "development", user_supplied_options: []).environment
    end
  end

  # The app has read them.
  def test_variables_of_the_environment_stay_as_they_are
    app = "run ->(_) { [200, { 'content-type' => 'text/plain' }, " \
          "[ENV.values_at('APP_ENV', 'RAILS_ENV', 'RACK_ENV').join(' ')]] }"
    { [] => %w[production development], %w[-E staging] => %w[staging staging] }.each do |options, (environment, racks)|
      rackup(app, *options, env: { "APP_ENV" => "production", "RAILS_ENV" => "test", "RACK_ENV" => nil }) do |process|
        process.wait_until_ready
        assert_match(/^  environment +#{environment}$/, process.out)
        assert_equal "production test #{racks}", get(process).body
      end
    end
  end

  def test_the_default_where_no_other_server_is_in_the_bundle
    variables = { "RACKUP_HANDLER" => "thin" }
    Cuttle::Rack::Handler.offer(variables)
    assert_equal({ "RACKUP_HANDLER" => "thin", "RACK_HANDLER" => "cuttle" }, variables)
    assert_output("cuttle") do
      print IO.popen([RbConfig.ruby, "-I#{File.expand_path("../../lib", __dir__)}", "-e",
                      "module Rails; end; require 'cuttle'; print ENV['RACKUP_HANDLER']"], &:read)
    end
  end

  def test_every_setting_that_rackup_has_no_option_for_has_one
    names = Cuttle::Settings::NAMES - %i[path binds port]
    assert_empty names - Cuttle::Rack::Handler::OPTIONS.values
    told = Cuttle::Rack::Handler.valid_options
    assert_equal "let connections persist", told["KeepAlive=on|off"]
    assert_equal Cuttle::Settings.row(:threads).help, told["Threads=N|MIN:MAX|auto"]
  end

  def test_wrong_ones_are_refused
    assert_raises(Cuttle::UsageError) { settings(Threads: "x") }
  end

  def test_valid_options_are_options
    Cuttle::Rack::Handler.valid_options.each_key do |line|
      name = line[/\A\w+/].to_sym
      assert Cuttle::Rack::Handler::OPTIONS.key?(name) || %i[Host Port].include?(name), name
    end
  end

  def test_rackup
    rackup("run ->(_env) { [200, { 'content-type' => 'text/plain' }, ['hello']] }", "-O", "Engine=threads") do |process|
      eventually("the banner (#{process.err})") { process.out.include?("Ctrl-C") || !process.running? }
      assert_match(/engine +threads$/, process.out)
      assert_equal "hello", get(process).body
      assert_equal 0, process.stop("INT").exitstatus
    end
  end

  # rackup removes it in a block of at_exit, which forked processes inherit, as they do the app's.
  def test_a_worker_that_ends_leaves_rackups_pidfile
    app = "at_exit { File.write(\"ended.\#{Process.pid}\", '') }; run ->(_) { [200, {}, [Process.pid.to_s]] }"
    rackup(app, "-E", "none", "-P", "pid", "-O", "Workers=2") do |process, directory|
      process.wait_until_ready
      serving = []
      eventually("two workers that serve") { (serving |= [get(process).body]).length == 2 }
      Process.kill("TTOU", process.pid)
      eventually("the end of one") { Dir["#{directory}/ended.*"].any? && process.workers.length == 1 }
      assert_equal process.pid.to_s, File.read("#{directory}/pid")
      assert_predicate process.stop, :success?
      refute_path_exists "#{directory}/pid"
    end
  end

  # rackup itself ends with 0, and still removes its pidfile.
  def test_the_exit_status_of_a_server_that_failed
    app = "File.write('cuttle.rb', \"before_fork { raise 'torn' }\"); run ->(_env) { [200, {}, []] }"
    rackup(app, "-P", "pid", "-O", "Workers=1", "-O", "Config=cuttle.rb") do |process, directory|
      eventually("the end") { !process.running? }
      assert_equal 1, process.status.exitstatus, process.err
      assert_match(/^cuttle: cuttle.rb:1: before_fork: torn/, process.err)
      refute_path_exists "#{directory}/pid"
    end
  end

  def test_rackup_with_an_option_that_is_wrong
    rackup("run ->(_env) { [200, {}, []] }", "-O", "Engine=jet") do |process|
      eventually("the end") { !process.running? }
      assert_equal 1, process.status.exitstatus
      assert_match(/^cuttle: unknown engine "jet": /, process.err)
    end
  end

  # The daemon of `rails server -d` stays one.
  def test_how_rails_server_is_restarted
    commands = Cuttle::Rack::Handler.send(:commands, { restart_cmd: "bin/rails server -d -p 3000 --restart" })
    assert_equal %w[bin/rails server -p 3000 --restart], commands[:command]
    assert_equal %w[bin/rails server -p 3000 -P], commands[:rehearsal].first(5)
  end

  private

  def settings(options = {})
    Cuttle::Rack::Handler.settings(ALWAYS.merge(options))
  end

  # Calls the block with +variables+ as the only ones of the environment that say which one it is.
  def within(variables)
    before = ENV.to_h
    ENV.replace(before.except("APP_ENV", "RACK_ENV", "RAILS_ENV").merge(variables))
    yield
  ensure
    ENV.replace(before)
  end

  def rackup(app, *arguments, env: {})
    Dir.mktmpdir do |directory|
      File.write("#{directory}/config.ru", app)
      command = [Gem.bin_path("rackup", "rackup"), "-s", "cuttle", "-o", "127.0.0.1", "-p", "0", *arguments]
      process = ServingProcess.new(command, env: env, chdir: directory)
      begin
        yield process, directory
      ensure
        process.finish
      end
    end
  end
end

# frozen_string_literal: true

require "test_helper"

# Configuration files: what they may say, and what counts where several layers say it.
class TestConfiguration < Minitest::Test
  include TemporaryDirectory

  def setup
    @before = Dir.pwd
    Dir.chdir(@directory)
    Dir.mkdir("config")
  end

  def teardown
    Dir.chdir(@before)
  end

  # Of the words below, those that need another value than their flag's default, or another form.
  VALUES = { "bind" => ["tcp://127.0.0.1:1"], "port" => [80], "engine" => ["threads"], "workers" => [2],
             "threads" => [1, 5], "core" => ["pure"], "parser" => ["pure"], "like" => ["puma"], "rackup" => ["x.ru"],
             "directory" => ["."], "docroot" => ["."], "environment" => ["production"], "half_close" => ["drop"],
             "spool_directory" => ["."], "log_format" => ["json"], "log_sample" => [0.5],
             "trust" => ["10.0.0.0/8"], "bind_to_activated_sockets" => [], "control_url" => ["auto"] }.freeze

  def test_every_setting_has_a_word
    rows = Cuttle::Settings::TABLE.reject { |row| row.name == :config }
    assert_empty rows.select { |row| row.words.empty? }
    rows.each do |row|
      row.words.each do |word|
        values = VALUES.fetch(word) { row.kind == :on_off ? [] : [7] }
        configuration = read("#{word} #{values.map(&:inspect).join(", ")}")
        assert configuration.values.key?(row.name), word
        assert_equal "config/cuttle.rb:1", configuration.places[row.name]
      end
    end
  end

  # As `rails new` writes it, with every value that it may have.
  def test_the_words_of_a_rails_app
    settings = settings(<<~RUBY, { "RAILS_MAX_THREADS" => "7", "WEB_CONCURRENCY" => "4" })
      threads_count = ENV.fetch("RAILS_MAX_THREADS", 3)
      threads threads_count, threads_count
      environment ENV.fetch("CUTTLE_NO_SUCH", "production")
      workers Integer("2") if 2 > 1
      port ENV.fetch("CUTTLE_NO_SUCH", 3000)
      persistent_timeout 20
      log_requests
      quiet false
    RUBY
    assert_equal [3..3, "production", 2, 3000, 20, true, false],
                 %i[threads environment workers port idle_timeout log_requests quiet].map { |name| settings.to_h[name] }
    assert_equal ["tcp://0.0.0.0:3000"], settings.binds
    assert_equal [:file, "config/cuttle.rb:5"], [settings.origin(:port), settings.place(:port)]
  end

  def test_flags_are_stronger_than_the_file_and_variables_weaker
    text = "threads 4\nworkers 3\nlike 'unicorn'\nidle_timeout 9"
    variables = { "WEB_CONCURRENCY" => "7", "PORT" => "99" }
    settings = settings(text, variables, idle_timeout: 8)
    assert_equal({ engine: [:like, "config/cuttle.rb:3: like unicorn"], workers: [:file, "config/cuttle.rb:2"],
                   idle_timeout: [:flag, "--idle-timeout"], port: [:environment, "PORT"],
                   like: [:file, "config/cuttle.rb:3"] },
                 %i[engine workers idle_timeout port like].to_h do |name|
                   [name, [settings.origin(name), settings.place(name)]]
                 end)
    assert_equal [3, 8, 99], [settings.workers, settings.idle_timeout, settings.port]
    assert_equal 2, settings(text, variables, workers: 2).workers
  end

  # An operator who gives a word beside it in the same file means that word.
  def test_like_is_weaker_than_what_stands_beside_it
    variables = { "WEB_CONCURRENCY" => "7" }
    ["like 'unicorn'\nworkers 3", "workers 3\nlike 'unicorn'"].each do |text|
      assert_equal [3, :file], [settings(text, variables).workers, settings(text, variables).origin(:workers)]
    end
    assert_equal 1, settings("like 'unicorn'", variables).workers
    assert_equal ["hybrid", false], settings("like 'unicorn'\nengine 'hybrid'").to_h.values_at(:engine, :keep_alive)
    assert_equal [1, :like], [settings("workers 3", {}, like: "unicorn").workers,
                              settings("workers 3", {}, like: "unicorn").origin(:workers)]
  end

  def test_like_of_the_command_line_replaces_that_of_the_file
    settings = settings("like 'unicorn'\nidle_timeout 9", {}, like: "webrick")
    assert_equal ["threads", true, 30], settings.to_h.values_at(:engine, :keep_alive, :idle_timeout)
    assert_equal [:default, "--like webrick"], [settings.origin(:workers), settings.place(:engine)]
  end

  def test_addresses
    unix = "unix:///tmp/x"
    all = "bind '#{unix}'\nbind 'tcp://a:1'"
    assert_equal [unix, "tcp://a:1"], settings(all, { "PORT" => "5" }).binds
    assert_equal [unix, "tcp://127.0.0.1:3"], settings("bind '#{unix}'\nport 3").binds
    assert_equal ["tcp://[::1]:3", "tcp://h:4"], settings("port 3, '::1'\nport 4, 'h'").binds
    assert_equal ["tcp://127.0.0.1:9"], settings(all, {}, port: 9).binds
    assert_equal ["tcp://b:1"], settings("#{all}\nport 3", {}, binds: ["tcp://b:1"]).binds
  end

  def test_the_file_that_is_found
    write("config/cuttle.rb", "workers 1")
    write("config/cuttle/production.rb", "workers 2")
    write("other.rb", "workers 3")
    { {} => 1, { environment: "production" } => 2, { environment: "test" } => 1, { config: "other.rb" } => 3,
      { config: "-" } => 0 }.each do |flags, workers|
      configuration = Cuttle::Configuration.of(flags, {})
      assert_equal workers, Cuttle::Settings.build(variables: {}, configuration: configuration, **flags).workers
    end
    assert_equal 2, Cuttle::Configuration.of({}, { "RACK_ENV" => "production" }).values[:workers]
    FileUtils.rm_r("config")
    assert_nil Cuttle::Configuration.of({}, {})
  end

  def test_a_file_that_loads_others
    write("config/shared.rb", "workers 4\nthreads 1")
    configuration = read("load 'config/shared.rb'\nthreads 2\nload 'config/shared.rb' if false")
    assert_equal [4, 2..2], configuration.values.values_at(:workers, :threads)
    assert_equal ["config/shared.rb:1", "config/cuttle.rb:2"], configuration.places.values_at(:workers, :threads)
    assert_equal %w[cuttle.rb shared.rb], configuration.files.map { |path| File.basename(path) }
  end

  def test_a_method_of_the_file_counts_as_its_line
    assert_equal "config/cuttle.rb:2", read("def many(count)\n  workers count\nend\nmany 3").places[:workers]
  end

  def test_an_app
    called = read("app { |_env| [200, {}, ['x']] }").app
    assert_equal [200, {}, ["x"]], called.call({})
    assert_equal [204, {}, []], read("app ->(_env) { [204, {}, []] }").app.call({})
  end

  FAULTS = {
    "thread 5" => /\Aconfig\/cuttle.rb:1: unknown word thread: did you mean threads\?\z/,
    "\nzebra { }" => /\Aconfig\/cuttle.rb:2: unknown word zebra\z/,
    "unknown" => /:1: unknown word unknown/,
    "queue_requests false" =>
      /:1: unknown word queue_requests: it is Puma's; cuttle import FILE -o config\/cuttle.rb translates Puma's file\z/,
    "ssl_bind '::1', 1, key: 'k'" => /:1: unknown word ssl_bind: it is Puma's; cuttle import [^?]*\z/,
    "workers 'many'" => /\Aconfig\/cuttle.rb:1: workers many: give a number of processes, or auto\z/,
    "persistent_timeout -1" => /:1: persistent_timeout -1: give seconds, or none/,
    "workers" => /\Aconfig\/cuttle.rb:1: wrong number of arguments .*\(ArgumentError\)\z/,
    "port 1\nport 2" => /\Aconfig\/cuttle.rb:2: port has a value from config\/cuttle.rb:1; use bind/,
    "port nil" => /:1: port : give a port from 0 to 65535/,
    "bind 'ftp://x'" => /:1: bind ftp:\/\/x: give tcp:/,
    "app" => /:1: app: give an object/,
    "load 'config/cuttle.rb'" => /\Aconfig\/cuttle.rb loads itself\z/,
    "load 'none.rb'" => /\Ano configuration file none.rb\z/,
    "raise 'no'" => /\Aconfig\/cuttle.rb:1: no \(RuntimeError\)\z/,
    "No::Such" => /\Aconfig\/cuttle.rb:1: uninitialized constant .*No \(NameError\)\z/,
    "require 'no/such'" => /\Aconfig\/cuttle.rb:1: cannot load such file -- no\/such \(LoadError\)\z/,
    "if" => /\Aconfig\/cuttle.rb:1: .*syntax error/m
  }.freeze

  def test_what_is_wrong_has_one_line_with_its_place
    FAULTS.each do |text, message|
      error = assert_raises(Cuttle::Error, text) { read(text) }
      assert_match message, error.message
    end
  end

  def test_a_file_that_is_not_there_or_not_readable
    assert_equal "no configuration file none.rb",
                 assert_raises(Cuttle::Error) { Cuttle::Configuration.of({ config: "none.rb" }, {}) }.message
    write("locked.rb", "")
    File.chmod(0, "locked.rb")
    skip "root may read everything" if File.readable?("locked.rb")
    assert_match(/\Acan't read locked.rb: Permission denied/,
                 assert_raises(Cuttle::Error) { Cuttle::Configuration.read("locked.rb") }.message)
  end

  private

  def write(path, text)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  def read(text)
    write("config/cuttle.rb", text)
    Cuttle::Configuration.read("config/cuttle.rb")
  end

  def settings(text, variables = {}, **flags)
    Cuttle::Settings.build(variables: variables, configuration: read(text), **flags)
  end
end

# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

class TestSettings < Minitest::Test
  def test_defaults
    settings = build
    assert_equal "hybrid", settings.engine
    assert_instance_of Cuttle::Engines::Auto, settings.threads
    assert_equal 0, settings.workers
    assert_equal "native", settings.parser
    assert_equal "development", settings.environment
    assert_equal ["tcp://127.0.0.1:9292"], settings.binds
    assert settings.frozen?
    assert_equal [:default], Cuttle::Settings::NAMES.map { |name| settings.origin(name) }.uniq
  end

  def test_there_is_a_default_in_one_place_only
    Serving::ENGINES.each do |name|
      optional = Cuttle::Engines.fetch(name).instance_method(:initialize).parameters.select { |kind, _| kind == :key }
      assert_empty optional, name
    end
  end

  def test_what_sources_and_engines_take
    settings = build({}, threads: 2, idle_timeout: 5)
    assert_equal({ threads: 2..2, ractors: 1, max_fibers: 1024 }, settings.for_engine)
    assert_equal({ keep_alive: true, idle_timeout: 5 }, settings.for_source.slice(:keep_alive, :idle_timeout))
    refute settings.for_source.key?(:request_timeout)
  end

  # The value of each source, and the default.
  LIMITS = {
    header_timeout: 10, body_timeout: 3600, min_rate: 500, idle_timeout: 65, write_timeout: 30, drain_grace: 0.5,
    half_close: "answer", spool_directory: nil, max_body: 1 << 30, max_spool: nil, write_ahead: 16 << 20,
    max_connections: nil, max_requests: nil, underscore_headers: false, max_queue: nil, queue_timeout: nil,
    app_timeout: nil, trust: [], proxy_protocol: false, early_hints: false, server_timing: false
  }.freeze

  def test_limits
    Serving::ENGINES.each do |engine|
      settings = build({}, engine: engine)
      assert_equal LIMITS.merge(keep_alive: settings.keep_alive), settings.for_source
    end
  end

  # Each that has a number can be turned off.
  def test_what_is_turned_off
    names = LIMITS.keys - %i[half_close spool_directory underscore_headers trust proxy_protocol early_hints
                             server_timing]
    ["none", "0", 0, :none].each do |off|
      settings = build({}, **names.to_h { |name| [name, off] })
      names.each { |name| assert_equal [nil, :flag], [settings.public_send(name), settings.origin(name)], name }
    end
    assert_nil build({}, max_body: "0K").max_body
  end

  def test_sizes
    { "512" => 512, "64K" => 65_536, "64k" => 65_536, "16M" => 16_777_216, "1G" => 1_073_741_824, 9 => 9,
      "9223372036854775807" => (1 << 63) - 1 }.each do |said, meant|
      assert_equal meant, build({}, max_body: said).max_body
    end
  end

  def test_a_request_timeout_is_that_of_head_and_body
    assert_equal [[2, :flag], [2, :flag]], head_and_body(request_timeout: 2)
    assert_equal [[1, :flag], [2, :flag]], head_and_body(request_timeout: 2, header_timeout: 1)
    assert_equal [[2, :flag], [9, :flag]], head_and_body(request_timeout: 2, body_timeout: 9)
    assert_equal [[nil, :flag], [nil, :flag]], head_and_body(request_timeout: "none")
    assert_equal [[nil, :flag], [2, :flag]], head_and_body(request_timeout: 2, header_timeout: "none")
    assert_nil build.request_timeout
  end

  # Whoever speaks last is heard, by whichever of the two names.
  def test_a_request_timeout_in_another_layer
    { [{ request_timeout: 2 }, { header_timeout: 1, body_timeout: 1 }] => [[2, :flag], [2, :flag]],
      [{ header_timeout: 1 }, { request_timeout: 2 }] => [[1, :flag], [2, :like]],
      [{}, { request_timeout: 2, body_timeout: 3 }] => [[2, :like], [3, :like]] }.each do |(flags, like), meant|
      settings = Cuttle::Settings.new([layer(:flag, flags), layer(:like, like)])
      assert_equal meant, origins(settings)
    end
  end

  def test_kept_connections_never_outlast_the_shutdown
    assert_equal [5, 1.5, 0.05, nil],
                 [10, 3, 0.1, 0].map { |time| build({}, workers: 1, shutdown_timeout: time).drain_grace }
    assert_equal [0.5, 0.05], [1, 0.1].map { |time| build({}, shutdown_timeout: time).drain_grace }
    assert_equal 20, build({}, drain_grace: 20).drain_grace
  end

  # A browser keeps connections open, and Ctrl-C should not take longer for that.
  def test_a_program_under_development_does_not_wait_long_for_kept_connections
    { %w[development 0] => 0.5, %w[test 0] => 0.5, %w[production 0] => 5, %w[staging 0] => 5, %w[development 1] => 5,
      %w[test 2] => 5 }.each do |(environment, workers), grace|
      assert_equal grace, build({}, environment: environment, workers: workers).drain_grace, [environment, workers]
    end
  end

  def test_where_spooled_octets_go
    Dir.mktmpdir do |directory|
      assert_equal File.realpath(directory), File.realpath(build({}, spool_directory: directory).spool_directory)
      Dir.chdir(directory) { assert_equal Dir.pwd, build({}, spool_directory: ".").spool_directory }
      File.write("#{directory}/file", "")
      ["#{directory}/file", "#{directory}/nowhere"].each { |path| assert_no_spool(path) }
      File.chmod(0o500, directory)
      assert_no_spool(directory) unless Process.euid.zero? # root may write everywhere
    end
  end

  # As the server finds them when it is there. A link may lead to another release later.
  def test_paths_begin_at_the_directory_to_serve_in
    Dir.mktmpdir do |directory|
      top = File.realpath(directory)
      FileUtils.mkdir_p(%w[spool public].map { |name| "#{top}/releases/1/#{name}" })
      File.symlink("releases/1", "#{top}/current")
      settings = build({}, directory: "#{top}/current", pidfile: "pid", state_path: "../state", path: "public",
                           spool_directory: "spool", control_url: "unix:control?umask=0177")
      assert_equal({ directory: "#{top}/current", pidfile: "#{top}/releases/1/pid", state_path: "#{top}/releases/state",
                     spool_directory: "#{top}/releases/1/spool", docroot: "public", tag: "1",
                     control_url: "unix://#{top}/releases/1/control?umask=0177" },
                   settings.to_h.slice(:directory, :pidfile, :state_path, :spool_directory, :docroot, :tag,
                                       :control_url))
      assert_equal "/run/pid", build({}, directory: top, pidfile: "/run/pid").pidfile
      Dir.chdir("#{top}/releases") do
        assert_equal "#{top}/releases/1/pid", build({}, directory: "1", pidfile: "pid").pidfile
      end
      assert_raises(Cuttle::UsageError) { build({}, directory: top, spool_directory: "spool") }
    end
  end

  def test_a_spool_of_a_file_has_its_line
    configuration = Cuttle::Configuration.new
    configuration.set(Cuttle::Settings.row(:spool_directory), "/nowhere", "config/cuttle.rb:2")
    error = assert_raises(Cuttle::UsageError) { build({}, configuration: configuration) }
    assert_equal "config/cuttle.rb:2: spool_directory /nowhere: give a directory that exists and that we may write to",
                 error.message
  end

  def test_queues_are_for_evented_engines
    Serving::ENGINES.each do |engine|
      { max_queue: 5, queue_timeout: 0.5 }.each do |name, value|
        if Cuttle::Engines.traits(engine).evented?
          assert_equal value, build({}, engine: engine, name => value).public_send(name)
        else
          error = assert_raises(Cuttle::UsageError) { build({}, engine: engine, name => value) }
          flag = "--#{name.to_s.tr("_", "-")}"
          assert_equal "engine #{engine} accepts when a thread is free, so its queue is the kernel's backlog: " \
                       "leave out #{flag}, or use #{evented}", error.message
        end
        assert_nil build({}, engine: engine, name => "none").public_send(name)
      end
    end
  end

  def test_stuck_apps_are_answered_for_by_evented_engines
    Serving::ENGINES.each do |engine|
      assert_nil build({}, engine: engine).app_timeout
      if Cuttle::Engines.traits(engine).evented?
        assert_equal 3, build({}, engine: engine, app_timeout: 3).app_timeout
      else
        error = assert_raises(Cuttle::UsageError) { build({}, engine: engine, app_timeout: 3) }
        assert_equal "engine #{engine} leaves a connection to its thread, even if the app is stuck: " \
                     "leave out --app-timeout, or use #{evented}", error.message
      end
    end
  end

  def test_what_a_client_that_closed_its_side_gets
    assert_equal "drop", build({}, half_close: "drop").half_close
    assert_equal "answer", build({}, half_close: :answer).half_close
  end

  def test_trusted_addresses
    { "10.0.0.0/8" => ["10.0.0.0/8"], %w[::1 unix ::1] => %w[::1 unix], "none" => [], [] => [],
      :private => %w[127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1 fc00::/7],
      "0.0.0.0/0" => ["0.0.0.0/0"] }.each do |said, meant|
      assert_equal meant, build({}, trust: said).trust
    end
    %w[proxy.example 10.0.0 10.0.0.0/33 [::1] fe80::1%eth0 010.0.0.1 none,::1].each do |said|
      error = assert_raises(Cuttle::UsageError) { build({}, trust: ["::1", said]) }
      assert_equal "--trust ::1 #{said}: give an IP address, a network such as 10.0.0.0/8, unix or private",
                   error.message
    end
    error = assert_raises(Cuttle::UsageError) { build({}, trust: "10.1.2.3/8") }
    assert_equal "--trust 10.1.2.3/8: the network is 10.0.0.0/8", error.message
    assert_equal "none", Cuttle::Settings.row(:trust).write([])
  end

  def test_a_proxy_protocol_needs_trusted_proxies
    assert build({}, trust: "unix", proxy_protocol: true).proxy_protocol
    error = assert_raises(Cuttle::UsageError) { build({}, proxy_protocol: true) }
    assert_equal "--proxy-protocol needs --trust ADDRESS, which names the proxies", error.message
  end

  def test_a_proxy_protocol_of_one_listener_needs_trusted_proxies_there
    on = "?proxy_protocol=true"
    build({}, trust: %w[unix 10.0.0.1], binds: ["tcp://a:1#{on}", "unix:///a#{on}", "tcp://b:1"])
    build({}, binds: ["tcp://a:1?proxy_protocol=false"])
    [["10.0.0.1", "unix:/a#{on}", "unix"], ["unix", "tcp://a:1#{on}", "ADDRESS"],
     ["none", "tcp://a:1#{on}", "ADDRESS"]].each do |trust, uri, needed|
      error = assert_raises(Cuttle::UsageError) { build({}, trust: trust, binds: [uri]) }
      assert_equal "-b #{uri}: proxy_protocol needs --trust #{needed}, which names the proxies", error.message
    end
    error = assert_raises(Cuttle::UsageError) { build({}, trust: "unix", control_url: "unix:///a#{on}") }
    assert_equal "--control-url unix:///a#{on}: a control listener has no proxy in front: leave out proxy_protocol",
                 error.message
  end

  def test_traits_are_the_engines
    Serving::ENGINES.each { |name| assert_same Cuttle::Engines.traits(name), build({}, engine: name).traits }
  end

  def test_environment_is_above_defaults
    settings = build({ "WEB_CONCURRENCY" => "2", "RAILS_MAX_THREADS" => "7", "PORT" => "8000", "RACK_ENV" => "live" })
    assert_equal [2, 7..7, 8000, "live"],
                 [settings.workers, settings.threads, settings.port, settings.environment]
    assert_equal [:environment], %i[workers threads port environment].map { |name| settings.origin(name) }.uniq
  end

  def test_like_is_above_the_environment
    settings = build({ "RAILS_MAX_THREADS" => "9", "WEB_CONCURRENCY" => "4" }, like: "puma")
    assert_equal [1..5, :like], [settings.threads, settings.origin(:threads)]
    assert_equal [4, :environment], [settings.workers, settings.origin(:workers)]
  end

  def test_flags_are_above_everything
    settings = build({ "WEB_CONCURRENCY" => "4" }, like: "unicorn", workers: "3", keep_alive: true)
    assert_equal [3, :flag], [settings.workers, settings.origin(:workers)]
    assert_equal [true, :flag], [settings.keep_alive, settings.origin(:keep_alive)]
    assert_equal ["single", :like], [settings.engine, settings.origin(:engine)]
  end

  def test_a_nil_flag_and_an_empty_variable_say_nothing
    settings = build({ "WEB_CONCURRENCY" => "", "PORT" => "" }, workers: nil)
    assert_equal %i[default default], [settings.origin(:workers), settings.origin(:port)]
  end

  def test_threads
    { "5" => 5..5, "1:5" => 1..5, "0:5" => 1..5, 4 => 4..4, (2..3) => 2..3 }.each do |said, meant|
      assert_equal meant, build({}, threads: said).threads
    end
    assert_equal 0..0, build({}, engine: "threads", threads: "0").threads
    assert_equal 2..9, build({ "RAILS_MIN_THREADS" => "2", "RAILS_MAX_THREADS" => "9" }).threads
  end

  def test_threads_are_auto_where_that_is_possible
    assert_equal Cuttle::Cluster::Cpus.count, build({}).threads.cores
    [{ engine: "threads" }, { core: "pure" }].each { |flags| assert_equal 3..3, build({}, **flags).threads }
    assert_equal [4..4, nil], build({ "RAILS_MAX_THREADS" => "4" }).then { |made| [made.threads, made.max_threads] }
    assert_equal 9, build({}, max_threads: 9).max_threads
  end

  def test_threads_auto
    [{ threads: "auto" }, { threads: :auto }].each do |flags|
      settings = build({}, **flags)
      assert_instance_of Cuttle::Engines::Auto, settings.threads
      assert_equal [3, 64], settings.threads.minmax
      assert_includes 3..64, settings.max_threads
      assert_equal "auto", Cuttle::Settings.row(:threads).write(settings.threads)
    end
    assert_equal 9, build({}, threads: "auto", max_threads: 9).max_threads
    assert_nil build({}, threads: 5).max_threads
  end

  # Rails would make a database pool of 0 connections of it.
  def test_threads_auto_is_no_word_for_the_variable_of_rails
    [{}, { threads: "auto" }, { engine: "reactor" }].each do |flags|
      error = assert_raises(Cuttle::UsageError) { build({ "RAILS_MAX_THREADS" => "auto" }, **flags) }
      assert_equal "RAILS_MAX_THREADS auto: the database pool of Rails needs a number here; say -t auto, or " \
                   "threads :auto in a file", error.message
    end
    error = assert_raises(Cuttle::UsageError) do
      build({ "RAILS_MIN_THREADS" => "2", "RAILS_MAX_THREADS" => "auto" })
    end
    assert_includes error.message, "RAILS_MAX_THREADS 2:auto: the database pool of Rails needs a number"
  end

  # The least of the pool and of what there is memory for; without a pool, as many as pools usually have.
  def test_the_limit_of_threads_auto
    { [nil] => 5, [nil, 4] => 4, [12] => 12, [100] => 64, [12, 9] => 9, [1, 9] => 1 }.each do |known, limit|
      assert_equal limit, Cuttle::Engines::Auto.limit(*known), known.inspect
    end
  end

  def test_threads_auto_is_never_without_a_thread
    [1..1, 3..3, 3..4].each { |range| assert_equal range, Cuttle::Engines::Auto.new(range.max) }
    [0, -1].each { |limit| assert_raises(ArgumentError) { Cuttle::Engines::Auto.new(limit) } }
  end

  def test_little_memory_is_no_reason_for_fewer_threads_than_it_begins_with
    { 1 => 3, 4 => 4 }.each do |room, most|
      Cuttle::Memory.stub(:threads, room) { assert_equal most, build({}, threads: "auto").max_threads }
    end
  end

  # The workers that are there share them.
  def test_threads_auto_may_keep_all_cores_busy
    [0, 3].each do |workers|
      assert_equal Cuttle::Cluster::Cpus.count, build({}, threads: "auto", workers: workers).threads.cores
    end
  end

  def test_a_pool_from_the_environment_is_nothing_to_an_engine_of_one_thread
    settings = build({ "RAILS_MAX_THREADS" => "5" }, engine: "reactor")
    assert_equal [1..1, :default], [settings.threads, settings.origin(:threads)]
    settings = build({}, engine: "reactor", like: "puma")
    assert_equal [1..1, :default], [settings.threads, settings.origin(:threads)]
    settings = build({}, engine: "reactor", threads: 1)
    assert_equal [1..1, :flag], [settings.threads, settings.origin(:threads)]
  end

  def test_keep_alive_is_off_for_an_engine_that_serves_one_connection_at_a_time
    refute build({}, engine: "single").keep_alive
    Serving::ENGINES.each do |engine|
      traits = Cuttle::Engines.traits(engine)
      assert_equal traits.evented? || traits.pooled?, build({}, engine: engine).keep_alive, engine
    end
  end

  def test_environments_names_in_pumas_order
    assert_equal "a", build({ "APP_ENV" => "a", "RACK_ENV" => "b", "RAILS_ENV" => "c" }).environment
    assert_equal "b", build({ "RACK_ENV" => "b", "RAILS_ENV" => "c" }).environment
    assert_equal "c", build({ "RAILS_ENV" => "c" }).environment
  end

  def test_only_this_machine_is_served_while_developing
    assert_equal ["tcp://127.0.0.1:3000"], build({}, port: 3000).binds
    assert_equal ["tcp://0.0.0.0:3000"], build({}, port: 3000, environment: "production").binds
  end

  def test_a_port_beside_uris
    unix = "unix:///tmp/s"
    assert_equal [unix, "tcp://127.0.0.1:3000"], build({}, binds: [unix], port: 3000).binds
    assert_equal [unix], build({ "PORT" => "3000" }, binds: [unix]).binds
  end

  def test_a_directorys_files_are_served
    assert_equal __dir__, build({}, path: __dir__).docroot
    assert_nil build({}, path: __FILE__).docroot
  end

  def test_workers_auto
    assert_equal Cuttle::Cluster::Cpus.count, build({}, workers: "auto").workers
    assert_equal Cuttle::Cluster::Cpus.count, build({ "WEB_CONCURRENCY" => "auto" }).workers
    assert build({}, workers: "auto").auto?(:workers)
    refute build({ "WEB_CONCURRENCY" => "auto" }, workers: 2).auto?(:workers)
  end

  def test_times
    assert_equal 2.5, build({}, idle_timeout: "2.5").idle_timeout
    assert_equal 0, build({}, shutdown_timeout: 0).shutdown_timeout
  end

  def test_every_server_to_be_like_makes_valid_settings
    Cuttle::Settings::LIKES.each do |like, said|
      next if Cuttle::Engines.unavailable(said[:engine])

      settings = build({}, like: like)
      assert_equal said[:engine], settings.engine, like
      assert_equal said.fetch(:keep_alive), settings.keep_alive, like
    end
  end

  WRONG = {
    { workers: "many" } => "--workers many: give a number of processes, or auto",
    { workers: -1 } => "--workers -1: give a number of processes, or auto",
    { threads: "5:3" } => "--threads 5:3: the minimum is above the maximum",
    { threads: "1:2:3" } =>
      "--threads 1:2:3: give a number of threads, MIN:MAX, auto, or 0 for a thread per connection",
    { threads: "x" } => "--threads x: give a number of threads, MIN:MAX, auto, or 0 for a thread per connection",
    { threads: "" } => "--threads : give a number of threads, MIN:MAX, auto, or 0 for a thread per connection",
    { port: "99999" } => "--port 99999: give a port from 0 to 65535",
    { max_fibers: 0 } => "--max-fibers 0: give a number of fibers above 0",
    { idle_timeout: "x" } => "--idle-timeout x: give seconds, or none",
    { write_timeout: "1e10" } => "--write-timeout 1e10: give at most 9223372036 seconds, or none",
    { shutdown_timeout: "9223372037" } => "--shutdown-timeout 9223372037: give at most 9223372036 seconds",
    { shutdown_timeout: "none" } => "--shutdown-timeout none: give seconds",
    { request_timeout: "1e-9" } => "--request-timeout 1e-9: give at least 0.001 seconds, or none",
    { write_timeout: Float::INFINITY } => "--write-timeout Infinity: give seconds, or none",
    { header_timeout: Float::NAN } => "--header-timeout NaN: give seconds, or none",
    { write_timeout: "-1" } => "--write-timeout -1: give seconds, or none",
    { max_body: "1T" } => "--max-body 1T: give octets, such as 512, 64K, 16M or 1G, or none",
    { max_spool: "-1" } => "--max-spool -1: give octets, such as 512, 64K, 16M or 1G, or none",
    { write_ahead: "1.5M" } => "--write-ahead 1.5M: give octets, such as 512, 64K, 16M or 1G, or none",
    { min_rate: "fast" } => "--min-rate fast: give octets, such as 512, 64K, 16M or 1G, or none",
    { max_body: "8589934592G" } => "--max-body 8589934592G: give at most 9223372036854775807 octets, or none",
    { max_connections: "all" } => "--max-connections all: give a number of connections up to 1000000000, or none",
    { max_requests: 1_000_000_001 } =>
      "--max-requests 1000000001: give a number of requests up to 1000000000, or none",
    { max_queue: "1.5" } => "--max-queue 1.5: give a number of requests up to 1000000000, or none",
    { half_close: "none" } => "--half-close none: give answer or drop",
    { underscore_headers: "some" } => "--underscore-headers some: on or off",
    { spool_directory: "/nowhere" } =>
      "--spool-directory /nowhere: give a directory that exists and that we may write to",
    { drain_grace: 30 } => "--drain-grace 30 has to be below --shutdown-timeout 25",
    { binds: [] } => "--bind : give at least one URI",
    { write_timeout: "soon" } => "--write-timeout soon: give seconds, or none",
    { shutdown_timeout: "NaN" } => "--shutdown-timeout NaN: give seconds",
    { keep_alive: "maybe" } => "--keep-alive maybe: on or off",
    { binds: "9292" } => "--bind 9292: give tcp://host:port, ssl://host:port or unix:///path",
    { color: "red" } => "unknown option color",
    { engine: "jet" } => "unknown engine \"jet\": #{Cuttle::Engines.names.join(", ")}",
    { parser: "psychic" } => "unknown parser \"psychic\": #{Cuttle::Http::Parsers.names.join(", ")}",
    { like: "apache" } => "unknown server \"apache\": #{Cuttle::Settings::LIKES.keys.join(", ")}",
    { threads: 0 } =>
      "engine hybrid has a fixed pool: --threads 0 (a thread per connection) needs --engine threads",
    { engine: "reactor", threads: 0 } =>
      "engine reactor has a fixed pool: --threads 0 (a thread per connection) needs --engine threads",
    { engine: "hybrid", like: "webrick" } =>
      "engine hybrid has a fixed pool: --threads 0 (a thread per connection) needs --engine threads",
    { threads: "1:auto" } =>
      "--threads 1:auto: give a number of threads, MIN:MAX, auto, or 0 for a thread per connection",
    { threads: 3, max_threads: 5 } => "--max-threads needs --threads auto",
    { threads: "auto", max_threads: 0 } => "--max-threads 0: give a number of threads above 0",
    { threads: "auto", engine: "threads" } => "engine threads: --threads auto needs --engine hybrid",
    { threads: "auto", engine: "reactor" } => "engine reactor runs the app on one thread: leave out --threads",
    { threads: "auto", core: "pure" } => "--threads auto needs --core native, which knows when threads wait",
    { malloc_arenas: 4, core: "pure" } =>
      "--malloc-arenas needs --core native: set MALLOC_ARENA_MAX=4 instead",
    { engine: "reactor", threads: 5 } => "engine reactor runs the app on one thread: leave out --threads",
    { parser: "recognizer", environment: "production" } =>
      "parser recognizer is for study only: it does not serve in production"
  }.freeze

  WRONG.each do |flags, message|
    define_method("test_wrong: #{flags}") do
      assert_equal message, assert_raises(Cuttle::UsageError) { build({}, **flags) }.message
    end
  end

  def test_a_wrong_variable_is_named
    error = assert_raises(Cuttle::UsageError) { build({ "WEB_CONCURRENCY" => "lots" }) }
    assert_equal "WEB_CONCURRENCY lots: give a number of processes, or auto", error.message
    error = assert_raises(Cuttle::UsageError) { build({ "RAILS_MIN_THREADS" => "9", "RAILS_MAX_THREADS" => "3" }) }
    assert_equal "RAILS_MAX_THREADS 9:3: the minimum is above the maximum", error.message
  end

  private

  def layer(origin, values) = Cuttle::Settings::Layer.new(origin, values, {})

  # The flag for the evented engines, as messages have it.
  def evented
    names = Cuttle::Engines.names.select { |engine| Cuttle::Engines.traits(engine).evented? }
    "--engine #{names[0...-1].join(", ")} or #{names.last}"
  end

  def head_and_body(**flags)
    origins(build({}, **flags))
  end

  def origins(settings)
    %i[header_timeout body_timeout].map { |name| [settings.public_send(name), settings.origin(name)] }
  end

  def assert_no_spool(path)
    error = assert_raises(Cuttle::UsageError) { build({}, spool_directory: path) }
    assert_equal "--spool-directory #{path}: give a directory that exists and that we may write to", error.message
  end

  def build(variables = {}, **flags)
    Cuttle::Settings.build(variables: variables, **flags)
  end
end

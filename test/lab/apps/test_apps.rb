# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Apps by name and by path.
class TestApps < Minitest::Test
  Apps = Cuttle::Lab::Apps

  def test_the_named_ones_are_there
    Apps::NAMES.each_key do |name|
      app = Apps.find(name)
      assert_equal name, app.name
      assert_path_exists app.rackup
      assert_path_exists app.gemfile if app.gemfile
    end
    services = { "forum" => %w[postgres], "forum-sqlite" => [], "hello" => [], "album" => %w[postgres renderer] }
    assert_equal services, services.keys.to_h { |name| [name, Apps.find(name).services] }
  end

  def test_a_profile_becomes_the_work_apps_environment
    app = Apps.find("work", profile: { cpu_ms: 5, "cv" => 0.5 })
    assert_equal({ "WORK_CPU_MS" => "5", "WORK_CV" => "0.5" }, app.environment)
    assert_empty app.services
  end

  def test_a_profile_says_what_services_are_needed
    assert_equal %w[postgres upstream], Apps.find("work", profile: { query: "table", upstream: true }).services
    given = Apps.find("work", profile: { upstream: "http://127.0.0.1:1/" })
    assert_equal [[], "http://127.0.0.1:1/"], [given.services, given.environment["WORK_UPSTREAM"]]
  end

  def test_wrong_profiles
    assert_match(/\Aprofile: cpu_ms: .*not "x"\z/, usage_error { Apps.find("work", profile: { cpu_ms: "x" }) })
    assert_match(/no parameter "io"/, usage_error { Apps.find("work", profile: { io: 1 }) })
    assert_match(/for the work app/, usage_error { Apps.find("hello", profile: { cpu_ms: 1 }) })
    assert_match(/on PostgreSQL, not work/, usage_error { Apps.find("work", profile: { connections: 20 }) })
    [4, "1.5", "x", nil].each do |count|
      assert_match(/5 to 1000, not/, usage_error { Apps.find("forum", profile: { connections: count }) })
    end
  end

  def test_a_profile_says_how_many_connections_there_are
    work = Apps.find("work", profile: { query: "sleep", connections: "20", cpu_ms: 1 })
    assert_equal({ connections: 20 }, work.settings_of("postgres"))
    assert_equal %w[WORK_CPU_MS WORK_QUERY], work.environment.keys.sort
    assert_equal({ connections: 100 }, Apps.find("forum", profile: { connections: 100 }).settings_of("postgres"))
    album = Apps.find("album", profile: { connections: 30 })
    assert_equal({ connections: 30 }, Apps.find("album", profile: album.profile).settings_of("postgres"))
    assert_empty album.settings_of("renderer")
    assert_empty Apps.find("forum").settings_of("postgres")
  end

  def test_services_complete_the_environment
    service = Struct.new(:environment).new({ "WORK_UPSTREAM" => "http://127.0.0.1:9/" })
    app = Apps.find("work", profile: { upstream: true, cpu_ms: 1 })
    app = app.prepare(Dir.tmpdir, services: { "upstream" => service })
    assert_equal({ "WORK_UPSTREAM" => "http://127.0.0.1:9/", "WORK_CPU_MS" => "1" }, app.environment)
  end

  def test_anybodys_app_by_its_path
    Dir.mktmpdir do |directory|
      File.write("#{directory}/config.ru", "")
      assert_equal ["#{directory}/config.ru", directory, nil], parts(Apps.find(directory))
      assert_equal "#{File.basename(directory)}/config.ru", Apps.find(directory).name
      File.write("#{directory}/Gemfile", "")
      app = Apps.find("#{directory}/config.ru")
      assert_equal ["#{directory}/config.ru", directory, "#{directory}/Gemfile"], parts(app)
    end
  end

  def test_no_start_finds_what_was_posted_to_the_forum_during_another
    Dir.mktmpdir do |storage|
      app = Apps.find("forum-sqlite").with(environment: { "FORUM_STORAGE" => storage })
      database = %w[production.sqlite3 production.sqlite3-wal].map { |name| "#{storage}/#{name}" }
      database.each { |path| File.write(path, "filled") }
      2.times do
        app.reset({})
        assert_equal %w[filled filled], database.map { |path| File.read(path) }
        database.each { |path| File.write(path, "posted") }
        File.write("#{storage}/production.sqlite3-shm", "of another start")
      end
      app.reset({})
      refute_path_exists "#{storage}/production.sqlite3-shm"
    end
  end

  def test_the_forum_isolates_by_fiber_under_fibers
    app = Apps.find("forum")
    assert_equal "fiber", app.environment_for(fibers: true)["FORUM_ISOLATION"]
    assert_equal app.environment, app.environment_for(fibers: false)
    fibers = Cuttle::Lab::Servers::Peers.all.select(&:fibers?).map(&:name)
    assert_equal %w[falcon goliath], fibers
  end

  def test_what_is_no_app
    assert_match(/\Ano app nowhere\.ru: .*work, hello, hello-rails, forum/, usage_error { Apps.find("nowhere.ru") })
    assert_match(/\Ano app /, usage_error { Apps.find(Dir.tmpdir) })
  end

  private

  def parts(app)
    [app.rackup, app.directory, app.gemfile]
  end

  def usage_error(&block)
    assert_raises(Cuttle::UsageError, &block).message
  end
end

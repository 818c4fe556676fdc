# frozen_string_literal: true

require "test_helper"

# Services::Postgres, and the work app's queries. One server for all tests here.
class TestPostgres < Minitest::Test
  include Serving

  Postgres = Cuttle::Lab::Apps::Services::Postgres

  def self.postgres
    @postgres ||= Postgres.start.tap { |postgres| Minitest.after_run { postgres.stop } }
  end

  # Another server, for five connections.
  def self.small
    @small ||= Postgres.start(connections: 5).tap { |postgres| Minitest.after_run { postgres.stop } }
  end

  def setup
    skip Postgres.unavailable if Postgres.unavailable
    @postgres = self.class.postgres
  end

  def test_it_holds_the_work_table
    rows = @postgres.run("SELECT count(*), count(DISTINCT bucket) FROM work_items", database: "work")
    assert_equal "10000|500\n", rows
  end

  def test_only_its_owner_reaches_it
    assert_equal 0o700, File.stat(@postgres.directory).mode & 0o777
    assert_equal "", @postgres.run("SHOW listen_addresses").strip
  end

  # The app's, and not the one that asks.
  def test_open_connections_are_counted
    other = self.class.small
    eventually("no connection of another test") { other.open_connections.zero? }
    psql = IO.popen(["#{Postgres.programs}/psql", "-Xq", other.url("postgres")], "r+")
    psql.puts "SELECT 'there';"
    nil until psql.gets.include?("there")
    assert_equal 1, other.open_connections
  ensure
    psql&.close
  end

  def test_wrong_sql_fails_with_one_line
    error = assert_raises(Cuttle::Lab::Failure) { @postgres.run("SELECT nothing FROM nowhere") }
    assert_match(/\Apostgres: .*nowhere.*\z/, error.message)
  end

  def test_a_database_is_made_again_what_it_was
    @postgres.run("CREATE DATABASE posts")
    @postgres.run("CREATE TABLE posts (id integer); INSERT INTO posts VALUES (1)", database: "posts")
    counts = Array.new(3) do
      @postgres.restore("posts")
      @postgres.run("INSERT INTO posts VALUES (2); SELECT count(*) FROM posts", database: "posts")
    end
    assert_equal ["2\n"] * 3, counts
  end

  def test_nothing_stays_of_it
    other = Postgres.start(connections: 10)
    assert_equal "10\n", other.run("SHOW max_connections")
    directory = other.directory
    other.stop
    refute_path_exists directory
    refute_path_exists "/proc/#{other.pid}"
  end

  def test_the_work_app_asks_it
    app = prepared(query: "sleep", pool: 2)
    serving_process(app.rackup, "-t", "8:8", env: app.environment, gems: true) do |server|
      started = now
      answers = Array.new(4) { Thread.new { get(server, "/?cpu_ms=0&iowait_ms=200&response_chars=5") } }.map(&:value)
      assert_equal [[200, "aaaaa"]] * 4, answers.map { |answer| [answer.status, answer.body] }
      assert_operator now - started, :>=, 0.4 # two at a time
      assert_equal 200, get(server, "/?query=table&cpu_ms=0&iowait_ms=0").status
    end
  end

  def test_a_wait_in_the_database_lets_other_fibers_go_on
    app = prepared(query: "sleep", pool: 10)
    serving_process(app.rackup, "--engine", "fibers", env: app.environment, gems: true) do |server|
      get(server, "/?cpu_ms=0&iowait_ms=0")
      waiting = Array.new(8) { Thread.new { get(server, "/?cpu_ms=0&iowait_ms=5000").status } }
      assert_equal 200, get(server, "/?cpu_ms=0&iowait_ms=1").status
      assert(waiting.all?(&:alive?))
      assert_equal [200] * 8, waiting.map(&:value)
    end
  end

  def test_forked_workers_have_connections_of_their_own
    app = prepared(query: "table")
    serving_process(app.rackup, "-w", "2", env: app.environment, gems: true) do |server|
      answers = Array.new(8) { Thread.new { get(server, "/?cpu_ms=0&iowait_ms=1").status } }.map(&:value)
      assert_equal [200] * 8, answers
    end
  end

  def test_one_line_names_a_missing_database
    app = prepared(query: "table")
    environment = app.environment.merge("WORK_DATABASE" => "postgresql:///work?host=/nonexistent")
    serving_process(app.rackup, env: environment, gems: true) do |server|
      answer = get(server, "/?cpu_ms=0&iowait_ms=0")
      assert_equal 503, answer.status
      assert_match(%r{\Aquery: .*/nonexistent.*\n\z}, answer.body)
    end
  end

  def test_requests_beyond_the_connections_of_the_database_fail
    other = self.class.small
    app = prepared(query: "sleep", pool: 8)
    serving_process(app.rackup, "-t", "8:8", env: app.environment.merge(other.environment), gems: true) do |server|
      answers = Array.new(8) { Thread.new { get(server, "/?cpu_ms=0&iowait_ms=2000") } }.map(&:value)
      assert_equal({ 200 => 5, 503 => 3 }, answers.map(&:status).tally)
      assert_match(/\Aquery: .*too many clients/, answers.find { |answer| answer.status == 503 }.body)
    end
  end

  private

  def prepared(**profile)
    app = Cuttle::Lab::Apps.find("work", profile: profile)
    app.prepare(Dir.tmpdir, services: { "postgres" => @postgres })
  rescue Cuttle::Lab::Failure => error
    skip error.message
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

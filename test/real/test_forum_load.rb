# frozen_string_literal: true

require_relative "real"
require "json"
require_relative "../../examples/forum/lib/request_mix"

# The forum as the lab loads it: on PostgreSQL and on SQLite, filled and asked for by a seed.
class ForumLoadTest < Minitest::Test
  include TemporaryDirectory

  Lab = Cuttle::Lab
  TOPICS = 30

  Served = Struct.new(:name, :rackup, :gemfile, :environment, :flags, :directory, keyword_init: true)

  def setup
    skip Real::FORUM.missing if Real::FORUM.missing
  end

  def teardown
    @server&.kill
    @postgres&.stop
  end

  def test_on_sqlite
    app = prepare("forum-sqlite", {})
    serve(app, "--engine", "hybrid", "-t", "3:3")
    assert_load(app)
    assert_pages(app)
  end

  def test_on_postgresql_threads_and_fibers
    skip Lab::Apps::Services::Postgres.unavailable if Lab::Apps::Services::Postgres.unavailable
    skip "the forum has no driver for PostgreSQL: install libpq-dev, and run examples/setup forum" unless driver?

    @postgres = Lab::Apps::Services::Postgres.start
    app = prepare("forum", { "postgres" => @postgres })
    assert_equal "#{TOPICS}\n", @postgres.run("SELECT count(*) FROM topics", database: "forum")
    [%w[--engine hybrid -t 3:3 -w 2], %w[--engine fibers]].each do |flags|
      serve(app, *flags)
      assert_load(app)
      assert_predicate @server.stop, :success?
    end
    posts = @postgres.run("SELECT sum(posts_count) = (SELECT count(*) FROM posts) FROM topics", database: "forum")
    assert_equal "t\n", posts # no counter lost an update
  end

  def test_the_same_seed_gives_the_same_requests
    mixes = [1, 1, 2].map { |seed| RequestMix.new(seed, [3, 2, 1], "cookie", "token").lines }
    assert_equal mixes[0], mixes[1]
    refute_equal mixes[0], mixes[2]
  end

  def test_each_action_weighs_the_same
    requests = RequestMix.new(1, (1..10).to_a, "cookie", "token").lines.map { |line| JSON.parse(line) }
    actions = requests.group_by { |request| [request.fetch("method", "GET"), request["path"].gsub(/\d+/, "N")] }
    assert_equal [%w[GET /], %w[GET /topics/N], %w[POST /topics/N/posts], %w[POST /topics]], actions.keys
    actions.each_value { |same| assert_in_delta 1, same.sum { |request| request["weight"] }, 1e-9 }
  end

  private

  def driver?
    File.exist?("#{Real::ROOT}/examples/work/Gemfile.lock")
  end

  def prepare(name, services)
    Lab::Apps.find(name).prepare(@directory, services: services, topics: TOPICS)
  end

  def serve(app, *flags)
    served = Served.new(name: app.name, rackup: app.rackup, gemfile: app.gemfile, environment: app.environment,
                        flags: flags, directory: app.directory)
    @server = Real::Server.new(served, Real::Way.new(*flags.values_at(1))).wait_until_ready
  end

  # However many replies a topic has, a page of it has 50 posts, and a reply leads to the last page.
  def assert_pages(app)
    line = File.foreach(app.mix).find { |text| text.include?("/posts\"") }
    File.write("#{@directory}/reply.jsonl", line)
    Cuttle::Load.run(@server.url, mix: "#{@directory}/reply.jsonl", requests: 60, connections: 2, duration: 240,
                                  timeout: Eventually::PATIENCE)
    reply = JSON.parse(line)
    answer = Net::HTTP.post(URI("#{@server.url}#{reply["path"]}"), reply["body"], reply["headers"])
    last = answer["location"][/\?page=(\d+)#post-\d+\z/, 1].to_i
    sizes = (1..last).map { |page| articles("#{reply["path"].delete_suffix("/posts")}?page=#{page}") }
    assert_operator last, :>, 1
    assert_equal [50] * (last - 1), sizes[0..-2]
    assert_includes 1..50, sizes.last
  end

  def articles(path)
    Net::HTTP.get(URI("#{@server.url}#{path}")).scan("<article").size
  end

  # Every kind of request is answered as it should be. The first ones wait until Rails has loaded what it needs for
  # them, which takes its time on a busy machine.
  def assert_load(app)
    result = Cuttle::Load.run(@server.url, mix: app.mix, requests: 200, connections: 4, duration: 240,
                                           timeout: Eventually::PATIENCE)
    errors = result.errors.to_h.select { |_, count| count.positive? }
    assert_equal [200, {}], [result.responses, errors], @server.log.lines.last(5).join
  end
end

# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# The album app: a page of two queries and a part that Node.js renders. One database and one renderer for all tests.
class TestAlbum < Minitest::Test
  include Serving

  Lab = Cuttle::Lab

  def self.services
    @services ||= %w[postgres renderer].to_h { |name| [name, Lab::Apps::Services.find(name).start] }.tap do |services|
      Minitest.after_run { services.each_value(&:stop) }
    end
  end

  # The app, prepared once for all tests; what is missing (the driver) as a Lab::Failure.
  def self.prepared(app)
    @prepared ||= app.prepare(Dir.tmpdir, services: services)
  rescue Lab::Failure => error
    @prepared = error
  end

  def setup
    app = Lab::Apps.find("album")
    skip app.unavailable if app.unavailable
    @app = self.class.prepared(app)
    skip @app.message if @app.is_a?(Lab::Failure)
  end

  def test_the_page_has_the_photos_of_an_album
    serve do |server|
      answer = get(server, "/?query_ms=0&render_ms=0&cpu_ms=0")
      assert_equal 200, answer.status
      assert_match(%r{\A<!DOCTYPE html>\n<title>Item \d+</title>\n<ul>\n}, answer.body)
      ids = answer.body.scan(/<li id="(\d+)"><h2>Item \1</).flatten.map(&:to_i)
      assert_equal [20, 1], [ids.length, ids.map { |id| id % 500 }.uniq.length]
      assert_equal 200, get(server).status
    end
  end

  # Each of two queries takes its time, and those of other pages run meanwhile.
  def test_queries_overlap
    serve do |server|
      get(server)
      slow = Thread.new { elapsed { get(server, "/?query_ms=3000&render_ms=0&cpu_ms=0") } }
      assert_equal 200, get(server, "/?query_ms=1&render_ms=0&cpu_ms=0").status
      assert_predicate slow, :alive?
      assert_operator slow.value, :>=, 6
    end
  end

  def test_rendering_does_not
    serve("-w", "2", "-t", "4:4") do |server|
      assert_operator elapsed { four_pages(server, "query_ms=0&render_ms=150") }, :>=, 0.6
    end
  end

  def test_computing_is_counted_by_the_thread
    serve { |server| assert_operator elapsed { four_pages(server, "cpu_ms=100&render_ms=0") }, :>=, 0.4 }
  end

  def test_it_is_served_by_fibers
    serve("--engine", "fibers") { |server| four_pages(server, "query_ms=20&render_ms=5") }
  end

  def test_one_line_names_a_bad_parameter
    serve do |server|
      { "render_ms=x" => "render_ms: a number from 0 to 60000, not \"x\"\n", "query_ms=60001" => "not \"60001\"\n",
        "io=1" => "no parameter \"io\" (query_ms, render_ms, cpu_ms)\n",
        "cpu_ms=%zz" => "not \"%zz\"\n" }.each do |query, line|
        answer = get(server, "/?#{query}")
        assert_equal 400, answer.status
        assert_includes answer.body, line
      end
    end
  end

  def test_one_line_names_a_missing_renderer_or_database
    gone = Lab::Apps::Services::Renderer.start.tap(&:stop).environment
    { gone => [502, /\Arenderer: .*refused.*\n\z/],
      { "ALBUM_RENDERER" => nil } => [503, /\Arenderer: ALBUM_RENDERER.*\n\z/],
      { "WORK_DATABASE" => nil } => [503, /\Aquery: WORK_DATABASE.*\n\z/] }.each do |environment, (status, line)|
      serve(env: environment) do |server|
        answer = get(server)
        assert_equal status, answer.status
        assert_match line, answer.body
      end
    end
  end

  private

  def serve(*flags, env: {}, &block)
    flags = %w[-t 4:4] if flags.empty?
    environment = @app.environment.merge("RAILS_MAX_THREADS" => "4", **env)
    serving_process(@app.rackup, *flags, env: environment, gems: true, &block)
  end

  def four_pages(server, query)
    answers = Array.new(4) { Thread.new { get(server, "/?#{query}").status } }.map(&:value)
    assert_equal [200] * 4, answers
  end
end

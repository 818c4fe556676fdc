# frozen_string_literal: true

require "test_helper"
require_relative "support/control_case"

# What the control listener answers.
class TestControlApp < Minitest::Test
  include ControlCase

  def test_probes_follow_the_process_and_need_no_token
    controlling(control_token: "secret") do |control|
      assert_equal [200, 200], [status(control, "/live"), status(control, "/ready")]
      assert_equal '{"status":"ok"}', ask(control, "/ready").body.chomp
      @process.ready = false
      assert_equal [200, 503], [status(control, "/live"), status(control, "/ready", "HEAD")]
      @process.live = false
      assert_equal [503, { "status" => "not live" }], [status(control, "/live"), json(control, "/live")]
      assert_equal 405, status(control, "/ready", "POST")
    end
  end

  def test_figures
    controlling do |control|
      answer = ask(control, "/stats")
      assert_equal ["application/json", "no-store"], [answer["content-type"], answer["cache-control"]]
      assert_equal JSON.parse(JSON.generate(@process.stats)), JSON.parse(answer.body)
      assert_operator json(control, "/gc-stats").fetch("count"), :>, 0
      assert_equal "POST", ask(control, "/gc", "PUT")["allow"][/\w+/]
    end
  end

  def test_metrics
    controlling do |control|
      answer = ask(control, "/metrics")
      assert_equal ["text/plain; version=0.0.4; charset=utf-8", "no-store"],
                   [answer["content-type"], answer["cache-control"]]
      assert_includes answer.body, "\ncuttle_ready 1\n"
      assert_equal [200, 405], [status(control, "/metrics", "HEAD"), status(control, "/metrics", "POST")]
      assert_equal({}, json(control, "/top").fetch("ledgers"))
    end
  end

  def test_commands_reach_the_process_by_post_and_by_get
    controlling do |control|
      assert_equal({ "status" => "ok" }, json(control, "/restart", "POST", "Content-Length" => 0))
      assert_equal 200, status(control, "/stop")
      assert_equal %w[restart stop], @process.commands
      assert_equal [{ "name" => "main", "backtrace" => ["a:1"] }], json(control, "/thread-backtraces")
      before = GC.count
      assert_equal 200, status(control, "/gc", "POST", "Content-Length" => 0)
      assert_operator GC.count, :>, before
    end
  end

  # A client that only looks must change nothing.
  def test_methods_that_are_no_command
    controlling do |control|
      %w[HEAD PUT DELETE OPTIONS PATCH].each do |method|
        answer = ask(control, "/stop", method)
        assert_equal [405, "POST, GET"], [answer.status, answer["allow"]], method
      end
      assert_empty @process.commands
    end
  end

  def test_what_a_process_can_not_do
    controlling do |control|
      assert_equal 409, status(control, "/phased-restart")
      assert_equal({ "error" => "phased-restart: there are no workers" }, json(control, "/phased-restart"))
      assert_equal [500, { "error" => "oh (RuntimeError)" }],
                   [status(control, "/add-worker"), json(control, "/add-worker")]
      assert_equal 200, status(control, "/live")
    end
  end

  def test_unknown_paths
    controlling do |control|
      paths = %w[/ /stop/ /stats/1 //stats /Stop /nothing /%73tats]
      paths.each { |path| assert_equal 404, status(control, path), path }
      assert_equal({ "error" => 'no such path: "/%C3%A4%22"' }, json(control, "/%C3%A4%22"))
      assert_empty @process.commands
    end
  end

  def test_a_token_is_needed_for_all_but_probes
    controlling(control_token: "s3cret+/=") do |control|
      good = [["/stats", { "Authorization" => "Bearer s3cret+/=" }],
              ["/stats", { "Authorization" => "bearer  s3cret+/=" }],
              ["/metrics", { "Authorization" => "Bearer s3cret+/=" }],
              ["/stats?token=s3cret%2B%2F%3D", {}], ["/stats?a=1&token=s3cret%2B/%3d", {}]]
      good.each { |path, fields| assert_equal 200, status(control, path, **fields), path }
      bad = [["/stats", {}], ["/metrics", {}], ["/top", {}], ["/stats?token=", {}],
             ["/stats?token=s3cret", {}], ["/stats?token=%", {}],
             ["/stats?token=s3cret%2B%2F%3D0", {}], ["/stats?xtoken=s3cret%2B%2F%3D", {}], ["/stop", {}],
             ["/nothing", {}], ["/stats", { "Authorization" => "Bearer s3cret+/" }],
             ["/stats", { "Authorization" => "Basic s3cret+/=" }], ["/stats", { "Authorization" => "s3cret+/=" }],
             ["/stats?token=s3cret%2B%2F%3D", { "Authorization" => "Bearer x" }]]
      bad.each { |path, fields| assert_equal 403, status(control, path, **fields), [path, fields].inspect }
      assert_empty @process.commands
    end
  end

  def test_the_token_is_never_shown
    controlling(control_token: "s3cret") do |control|
      texts = ["/stats", "/nothing", "/stop?token=wrong"].map { |path| ask(control, path).text }
      refute_includes texts.join, "s3cret"
    end
  end
end

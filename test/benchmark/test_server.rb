# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/servers/apart"

# The servers that only benchmarks have, and what they do with one that answers something else.
class TestBenchmarkServer < Minitest::Test
  def test_canned_answers_what_cuttle_answers_to_the_same_app_and_ends
    canned = Bench::Canned.new
    skip canned.unavailable if canned.unavailable

    server = serve(canned, app: Bench.app("hello"), keep_alive: true) do |running|
      answer = running.get("/")
      assert_equal "Hello, world!", answer.body
      assert_match(/^cache-control: no-cache\r$/i, answer.head)
      assert_equal 1, running.tree.pids.size
      assert(running.proof.none? { |proof| proof.proved == false })
      running
    end
    assert_empty server.tree.pids
  end

  def test_canned_answers_the_octets_it_is_given
    octets = "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nexactly these"
    canned = Bench::Canned.new(response: octets)
    skip canned.unavailable if canned.unavailable

    serve(canned, model: Bench::Canned::EDGE) do |running|
      answer = running.get("/")
      assert_equal octets, answer.head + answer.body
    end
  end

  def test_nginx_serves_a_directory
    nginx = Bench::Nginx.new("nginx")
    skip nginx.unavailable if nginx.unavailable

    Dir.mktmpdir do |directory|
      File.write("#{directory}/small.txt", "a small file")
      serve(nginx, app: directory) do |running|
        assert_equal "a small file", running.get("/small.txt").body
        assert(running.proof.none? { |proof| proof.proved == false })
      end
    end
  end

  def test_servers_apart_have_listeners_of_their_own_on_one_port
    serve(Bench::Apart.new("cuttle-apart"), app: Bench.app("hello"), model: "hybrid", threads: 2, workers: 2,
                                            keep_alive: true) do |running|
      assert_equal "Hello, world!", running.get("/").body
      assert_equal 2, running.tree.listeners(running.port).length
      assert_equal 2, Bench::Lab::Servers::ProcessTree.listening(running.port).uniq.length
      assert_empty(running.proof.select { |proof| proof.proved == false })
    end
  end

  # A benchmark's plan from its declaration to its report, on the canned responder.
  def test_a_plan_runs_and_reports_and_a_server_with_wrong_answers_fails
    skip Bench::Canned.new.unavailable if Bench::Canned.new.unavailable

    Bench::Peers.add(Bench::Canned.new("wrong", response: "HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n"))
    text = Dir.mktmpdir { |directory| in_a_process { report_of_a_plan(directory) } }
    assert_match(/^canned +[\d,]+$/, text)
    assert_match(/^reached: it answers: /, text)
    assert_match(%r{^! failed: wrong, .*: answered 404 with 0 octets to GET /, and not 200 with 13$}, text)
  end

  private

  def report_of_a_plan(directory)
    plan = Bench::Plan.new("test", "A test", %w[rate])
    plan.app = Bench.app("hello")
    load = plan.load(connections: 1, tester: nil)
    %w[canned wrong].each { |name| plan.other(name, load, base: "canned") }
    plan.figure "it answers", :rate, of: "canned", at_least: 1
    options = Bench::Options.new([], name: "test", rounds: 1, seconds: 0.3)
    asked = Cuttle::Lab::Options.new(app: plan.app, duration: 0.3, directory: directory, rounds: 1,
                                     notes: plan.options(options).notes)
    Cuttle::Lab::Runner::Lock.stub(:hold, ->(**, &block) { block.call }) do
      path = Cuttle::Lab.run(asked, out: StringIO.new, plan: plan.lab(options))
      Bench::Report.new(Cuttle::Lab::Results.read(path)).text
    end
  end

  # Of its own, because a lab pins the process that runs it. Returns the block's text.
  def in_a_process
    reader, writer = IO.pipe
    pid = fork do
      writer.write(yield)
    ensure
      exit!
    end
    writer.close
    reader.read
  ensure
    reader.close
    Process.wait(pid)
  end

  def serve(peer, **settings, &block)
    Bench.serve(peer, Bench.cores.server, **settings, &block)
  end
end

# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# What benchmark/closing measures beside Cuttle: servers that close each connection.
class TestBenchmarkClosing < Minitest::Test
  def test_canned_and_nginx_close_after_hello
    skip Bench::Canned.new.unavailable if Bench::Canned.new.unavailable

    assert_equal({ "cache-control" => "no-cache", "connection" => "close", "content-length" => "13",
                   "content-type" => "text/plain" }, answer("canned"))
    nginx = Bench::Peers.find("nginx-return")
    skip nginx.unavailable if nginx.unavailable

    assert_equal answer("canned"), answer("nginx-return", workers: 2)
  end

  def test_a_load_that_closes_has_servers_that_close_if_they_can
    plan = Bench::Plan.new("test", "A test", [])
    kept, closing = [true, false].map { |keep_alive| plan.load(connections: 1, keep_alive: keep_alive) }
    refute_equal kept["name"], closing["name"]
    [kept, closing].each do |load|
      %w[puma iodine unicorn].each { |name| plan.other(name, load, name: "#{name} #{load["keep_alive"]}") }
      plan.serve("cuttle #{load["keep_alive"]}", load)
    end
    lab = plan.lab(Bench::Options.new([], name: "test", rounds: 1, seconds: 1))
    assert_equal [true, false], lab.loads.map(&:keep_alive)
    assert_equal({ "puma true" => true, "iodine true" => true, "unicorn true" => false, "cuttle true" => true,
                   "puma false" => false, "iodine false" => true, "unicorn false" => false, "cuttle false" => false },
                 lab.configurations.to_h { |each| [each.name, each.keep_alive] })
  end

  private

  # The fields of that server's answer, but for date and server, on a connection that it closes by itself.
  def answer(name, **settings)
    Bench.serve(Bench::Peers.find(name), Bench.cores.server, app: Bench.app("hello"), keep_alive: false,
                                                             **settings) do |server|
      assert(server.proof.none? { |proof| proof.proved == false }, server.proof.inspect)
      text = Socket.tcp("127.0.0.1", server.port) do |socket|
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        socket.read
      end
      head, body = text.split("\r\n\r\n", 2)
      assert_equal "Hello, world!", body
      head.lines(chomp: true).drop(1).to_h { |line| line.downcase.split(": ", 2) }.except("date", "server")
    end
  end
end

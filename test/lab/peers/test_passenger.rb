# frozen_string_literal: true

require "test_helper"
require "etc"
require "net/http"
require "tmpdir"

# Passenger's cache: off, unless it is what is asked for.
class TestPassenger < Minitest::Test
  # How often it was asked so far; may be kept.
  APP = <<~'RUBY'
    count = 0
    run(lambda do |_env|
      text = (count += 1).to_s
      [200, { "content-type" => "text/plain", "content-length" => text.bytesize.to_s, "cache-control" => "public, max-age=60" }, [text]]
    end)
  RUBY

  def setup
    @directory = Dir.mktmpdir("cuttle-passenger")
    File.write("#{@directory}/config.ru", APP)
  end

  def teardown
    @server&.stop
    FileUtils.remove_entry(@directory)
  end

  def test_it_keeps_nothing
    start(nil)
    assert_equal 4, answers.uniq.length
    assert_equal [true, false, false], proved
    @server.setup.model = "turbocached"
    assert_equal [false, true, false], proved
  end

  # Each of its threads keeps what it has seen: as many as the machine has cores.
  def test_but_for_the_variant_that_is_about_that
    start("turbocached")
    assert_operator answers(40 * Etc.nprocessors).tally.values.max, :>, 1
    assert_equal [true, true, true], proved
  end

  private

  def start(model)
    peer = Cuttle::Lab::Peers.find("passenger")
    skip peer.unavailable if peer.unavailable

    port = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
    setup = Cuttle::Lab::Setup.new(model: model, workers: 1, threads: 1, keep_alive: true, port: port,
                                   app: "#{@directory}/config.ru", env: {}, log: "#{@directory}/#{port}.log")
    @server = Cuttle::Lab::Server.start(peer, setup)
  end

  def answers(count = 4)
    Array.new(count) { Net::HTTP.get(URI(@server.url)) }
  end

  def proved
    @server.proof.find { |each| each.setting == "cache" }.to_a.values_at(3, 1, 2)
  end
end

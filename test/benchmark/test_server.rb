# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# The canned responder as a server under test, and servers that do not start.
class TestBenchmarkServer < Minitest::Test
  # A server of the given Ruby program, with the port as its argument.
  class Scripted < Bench::Recipe
    def initialize(program)
      super("scripted")
      @program = program
    end

    def command(setup)
      [RbConfig.ruby, "--disable-gems", "-rsocket", "-e", @program, setup.port.to_s]
    end
  end

  def setup
    @directory = Dir.mktmpdir
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_canned_answers_and_ends
    canned = Bench::Canned.new
    skip canned.unavailable if canned.unavailable

    canned.prepare
    server = open(canned) do |running|
      assert_equal "Hello, world!", running.get("/").body
      assert_equal 1, running.tree.pids.size
      running
    end
    assert_empty server.tree.pids
  end

  def test_canned_answers_the_octets_it_is_given
    path = File.join(@directory, "response")
    File.binwrite(path, "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nexactly these")
    canned = Bench::Canned.new
    skip canned.unavailable if canned.unavailable

    canned.prepare
    canned.define_singleton_method(:command) { |setup| [*super(setup), "--edge", path] }
    open(canned) { |running| assert_equal File.binread(path), running.get("/").bytes }
  end

  def test_a_server_that_ends_while_starting_is_named_with_its_last_words
    error = assert_raises(Bench::Server::Failed) { open(Scripted.new("abort 'no such option'")) { flunk } }
    assert_match(/scripted ended while it started: no such option/, error.message)
  end

  def test_a_server_that_answers_something_else_is_not_measured
    program = <<~RUBY
      listener = TCPServer.new("127.0.0.1", ARGV.first.to_i)
      loop { client = listener.accept; client.readpartial(999); client.write("HTTP/1.1 404 No\\r\\ncontent-length: 0\\r\\n\\r\\n") }
    RUBY
    error = assert_raises(Bench::Server::Failed) { open(Scripted.new(program)) { flunk } }
    assert_match(/answered 404/, error.message)
  end

  private

  def open(recipe, &block)
    Bench::Server.open(recipe, Bench::Cores.new, @directory, &block)
  end
end

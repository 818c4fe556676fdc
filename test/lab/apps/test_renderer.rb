# frozen_string_literal: true

require "test_helper"
require "json"
require "socket"
require "timeout"

# Services::Renderer: Node.js, and a line of JSON for a line of JSON.
class TestRenderer < Minitest::Test
  include Eventually

  Renderer = Cuttle::Lab::Apps::Services::Renderer

  def setup
    skip Renderer.unavailable if Renderer.unavailable
    @renderer = Renderer.start
  end

  def teardown
    @renderer&.stop
  end

  def test_it_renders
    html = "<ul>\n<li id=\"1\"><h2>A &amp; B</h2><p>&lt;i&gt;</p></li>\n</ul>"
    assert_equal({ "html" => html }, ask(photos: [[1, "A & B", "<i>"]], ms: 0))
  end

  # Of its own CPU time, on the one thread that it has.
  def test_it_renders_one_page_at_a_time
    before = CpuTime.seconds(@renderer.pid)
    took = elapsed { Array.new(4) { Thread.new { ask(photos: [], ms: 100) } }.each(&:join) }
    assert_operator took, :>=, 0.4
    assert_includes 0.38..1.0, CpuTime.seconds(@renderer.pid) - before
  end

  def test_a_connection_has_any_number_of_lines
    connect do |socket|
      lines = Array.new(3) { |number| "#{JSON.generate("photos" => [[number, "é", ""]], "ms" => 0)}\n" }.join
      lines.b.each_char.each_slice(7) { |octets| socket.write(octets.join) }
      assert_equal ["0\"", "1\"", "2\""], Array.new(3) { JSON.parse(socket.gets)["html"][/id="(\d")/, 1] }
    end
  end

  def test_a_bad_request_gets_an_error_and_the_next_one_an_answer
    connect do |socket|
      socket.puts "nonsense", '{"ms": 0}', '{"photos": [], "ms": 0}'
      answers = Array.new(3) { JSON.parse(socket.gets) }
      assert_equal [%w[error], %w[error], %w[html]], answers.map(&:keys)
    end
  end

  def test_nothing_stays_of_it
    pid = @renderer.pid
    @renderer.stop
    refute_path_exists "/proc/#{pid}"
    assert_raises(Errno::ECONNREFUSED) { connect { flunk } }
    @renderer = nil
  end

  def test_without_node_it_says_how_to_get_it
    path = ENV.fetch("PATH")
    ENV["PATH"] = "/nonexistent"
    assert_equal "Node.js is not installed (Debian: nodejs)", Renderer.unavailable
    assert_match(/\Arenderer: Node\.js is not/, assert_raises(Cuttle::Lab::Failure) { Renderer.start }.message)
  ensure
    ENV["PATH"] = path
  end

  private

  def connect(&block)
    Timeout.timeout(PATIENCE) { TCPSocket.open("127.0.0.1", @renderer.port, &block) }
  end

  def ask(**question)
    connect do |socket|
      socket.puts JSON.generate(question)
      JSON.parse(socket.gets)
    end
  end
end

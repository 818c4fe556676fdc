# frozen_string_literal: true

require "io/wait"
require "logger"
require "test_helper"

# rack.errors does what apps expect of an IO.
class TestErrors < Minitest::Test
  def setup
    @reader, writer = IO.pipe
    @errors = Cuttle::Rack::Errors.new(writer)
  end

  def teardown
    [@reader, @errors].each(&:close)
  end

  def test_it_writes
    @errors.sync = true
    @errors.puts "a line"
    @errors.print "one, "
    @errors << "two\n"
    @errors.printf("%d\n", 3)
    @errors.flush
    assert_equal "a line\none, two\n3\n", @reader.readpartial(100)
  end

  def test_a_logger_writes_to_it
    Logger.new(@errors).warn("on purpose")
    assert_match(/WARN.*on purpose$/, @reader.readpartial(200))
  end

  def test_a_child_process_writes_to_it
    assert system("echo a child >&2", err: @errors)
    assert_equal "a child\n", @reader.readpartial(100)
  end

  def test_an_app_can_wait_for_it
    assert @errors.wait_writable(10)
  end
end

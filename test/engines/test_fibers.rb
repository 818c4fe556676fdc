# frozen_string_literal: true

require "io/wait"
require "test_helper"

# What only the fibers engine has: the app's waiting goes through its scheduler.
class TestFibers < Minitest::Test
  include Serving

  # epoll doesn't take regular files. Ruby waits for one all the same, when the kernel wrote less than it was given.
  def test_a_regular_file_is_always_ready
    app = ->(_env) { [200, {}, [File.open(__FILE__) { |file| file.wait_readable.equal?(file).to_s }]] }
    serving(app, engine: "fibers") { |server| assert_equal "true", get(server).body }
  end
end

# frozen_string_literal: true

require "test_helper"

# Moments of the loop that ended the process, each found by fuzz/loop_threads.c.
class TestLoopEdges < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = <<~RUBY
    run lambda { |env|
      if env["PATH_INFO"] == "/wait"
        File.write("in", "")
        sleep 0.01 until File.exist?("go")
      end
      [200, {}, ["done"]]
    }
  RUBY

  def setup
    File.write("#{@directory}/config.ru", APP)
  end

  # A listener that was left for a while had its time looked up in a scoreboard, where there was none: SEGV.
  def test_stop_while_there_is_no_room_for_another_connection
    serve("--max-connections", "1", "--drain-grace", "1") do |server|
      client(server) do |first|
        assert_equal 200, ask(first).status
        client(server) do |second|
          second.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
          Process.kill("TERM", server.pid)
          assert_equal [200, "close"], [(answer = second.response).status, answer["connection"]], server.err
        end
      end
      eventually("the end") { !server.running? }
      assert_equal 0, server.status.exitstatus, server.err
    end
  end

  # It was answered 408 and still in the list of those that a parser was to look at, without the octets: SEGV.
  def test_a_head_that_is_late_while_no_thread_parses
    serve("-t", "1", "--parser", "pure", "--header-timeout", "0.5") do |server|
      client(server) do |busy|
        client(server) do |late|
          assert_equal 200, ask(late).status
          busy.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
          eventually("the app") { File.exist?("#{@directory}/in") }
          late.write("GET / HTTP/1.1\r\n")
          assert_equal 408, late.response.status
          FileUtils.touch("#{@directory}/go")
          assert_equal [200, 200], [busy.response&.status, ask(busy)&.status], server.err
        end
      end
    end
  end

  private

  def serve(*args, &block)
    serving_process("config.ru", "-e", "hybrid", *args, chdir: @directory, forked: true, &block)
  end

  def ask(client) = client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").response
end

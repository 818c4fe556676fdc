# frozen_string_literal: true

require "test_helper"

# A thread may leave the loop without a leader (the exception of the law in ext/cuttle/followers.h). Whatever it does in
# the app, other requests are answered. The same holds where Ruby doesn't report releases of the GVL, and there always
# is a leader. fuzz/loop_threads.c tests the law itself.
class TestUnled < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = "#{__dir__}/support/unled.ru"
  REPORTED = RUBY_VERSION >= "3.3" && RUBY_PLATFORM.include?("linux")

  REQUESTS = 500

  def test_a_request_that_keeps_the_gvl_wakes_no_other_thread
    skip "this Ruby doesn't report releases of the GVL" unless REPORTED
    with_server do |server|
      client(server) do |client|
        least = least_seconds(below: REQUESTS / 10, trials: 20) { switches_of_others(server.pid) { light(client) } }
        assert_operator least, :<, REQUESTS / 10
      end
    end
  end

  def test_others_are_answered_while_the_app_waits
    with_server do |server|
      5.times { waiting(server) { assert_light server } }
    end
  end

  # The computation calls nothing that releases the GVL, and no thread asks for the GVL at its beginning.
  def test_others_are_answered_while_the_app_computes
    with_server do |server|
      assert_light server
      client(server) do |computing|
        computing.write(get_of("/compute"))
        assert_light server
        refute computing.socket.wait_readable(0), "the other request waited for the end of the computation"
        Process.kill("URG", server.pid)
        assert_equal "done", computing.response.body
      end
    end
  end

  def test_others_are_answered_while_a_thread_of_the_app_computes
    with_server do |server|
      assert_equal "done", get(server, "/hog?1").body
      10.times { assert_light server }
    end
  end

  def test_others_are_answered_after_the_app_has_killed_its_thread
    with_server do |server|
      6.times do
        assert_light server
        assert_nil get(server, "/kill")
      end
      assert_light server
    end
  end

  def test_others_are_answered_after_a_fork_in_the_app
    with_server do |server|
      3.times do
        assert_light server
        assert_equal "child", get(server, "/fork").body
      end
    end
  end

  def test_two_pollers_in_one_process
    with_server do |server|
      20.times do
        assert_light server
        assert_equal "done", get(server, "/inner/").body
      end
      waiting(server, "/inner/wait") do
        assert_light server
        assert_equal "done", get(server, "/inner/").body
      end
    end
  end

  def test_workers_that_relay
    with_server("-w", "2", "-t", "2") do |server|
      clients = Array.new(8) { RawClient.open(server) }
      clients.each { |client| assert_equal "done", client.write(get_of("/")).response.body }
      waiting(server) do
        10.times { clients.each { |client| assert_equal "done", client.write(get_of("/")).response.body } }
      end
    ensure
      clients&.each(&:close)
    end
  end

  def test_a_stop_while_the_app_waits
    with_server do |server|
      assert_light server
      waiting(server) do
        Process.kill("TERM", server.pid)
        eventually("its listener's end") { RawClient.refused?(server.port) }
      end
      eventually("its end") { !server.running? }
      assert_predicate server.status, :success?
    end
  end

  private

  def with_server(*flags, &block)
    flags = %w[-w 0 -t 3] if flags.empty?
    serving_process(APP, *flags, env: { "CUTTLE_GATES" => @directory }, forked: true, &block)
  end

  # Runs the block while a request waits in the app, which is answered then.
  def waiting(server, path = "/wait")
    client(server) do |client|
      client.write(get_of(path))
      eventually("the request in the app") { File.exist?("#{@directory}/in") }
      yield
      FileUtils.touch("#{@directory}/go")
      assert_equal "done", client.response.body
    end
    FileUtils.rm(%w[in go].map { |name| "#{@directory}/#{name}" })
  end

  def assert_light(server)
    assert_equal "done", get(server).body
  end

  def light(client)
    REQUESTS.times { client.write(get_of("/")).response }
  end

  def get_of(path) = "GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n"

  # How often threads of Ruby's that are not the busiest one began to sleep while the block ran.
  def switches_of_others(pid)
    before = switches(pid)
    yield
    switches(pid).map { |task, count| count - before.fetch(task, 0) }.sort[..-2].sum
  end

  # By task: how often it began to sleep. Without native threads of the server's and of Ruby's, which block signals.
  def switches(pid)
    Dir["/proc/#{pid}/task/*/status"].filter_map do |file|
      status = File.read(file)
      [file, status[/^voluntary_ctxt_switches:\s+(\d+)/, 1].to_i] if status[/^SigBlk:\s+(\h+)/, 1].hex.zero?
    end.to_h
  end
end

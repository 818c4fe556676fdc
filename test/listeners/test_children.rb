# frozen_string_literal: true

require "test_helper"
require "json"

# Children that the app forks where no core serves: they keep no port.
class TestChildren < Minitest::Test
  include Serving
  include TemporaryDirectory

  # A child that stays when the server has ended.
  CHILD = "File.write('child', fork { sleep }.to_s)"

  APP = "run ->(_env) { [200, {}, ['hello']] }"

  def setup
    Dir.mkdir("#{@directory}/config")
  end

  def teardown
    child = File.read("#{@directory}/child").to_i
    Process.kill("KILL", child) if lives?(child)
  rescue Errno::ENOENT
    nil
  end

  def test_of_an_app_that_loads
    [%w[-w 0], %w[-w 1], %w[-w 1 --no-preload], %w[-w 1 --core pure]].each do |arguments|
      assert_port_is_free_after(*arguments, app: "#{CHILD}\n#{APP}")
    end
  end

  def test_of_the_mould_and_of_the_supervisor
    %w[before_fork after_booted].each { |hook| assert_port_is_free_after("-w", "1", settings: "#{hook} { #{CHILD} }") }
  end

  def test_copies_are_closed_in_a_child_but_not_in_one_that_gets_them
    listeners = Cuttle::Listeners.open(%w[tcp://127.0.0.1:0]).guard
    all = [listeners, listeners.copy]
    assert_equal [true, true], in_child { closed(all) }
    assert_equal [false, false], listeners.pass_on { in_child { closed(all) } }
    assert_equal [true, true], listeners.pass_on { in_child { in_child { closed(all) } } }
    assert_equal [false, false], closed(all)
  ensure
    all&.each(&:close)
  end

  def test_others_are_passed_on
    listeners = Cuttle::Listeners.open(%w[tcp://127.0.0.1:0])
    assert_equal [false], in_child { closed([listeners]) }
  ensure
    listeners&.close
  end

  private

  def assert_port_is_free_after(*arguments, app: APP, settings: "")
    FileUtils.rm_f("#{@directory}/child")
    File.write("#{@directory}/config.ru", app)
    File.write("#{@directory}/config/cuttle.rb", settings)
    serving_process(*arguments, chdir: @directory, forked: true) do |process|
      child = eventually("the child: #{process.err}") { File.exist?("#{@directory}/child") && child_of_the_app }
      assert_equal "hello", get(process).body
      port = process.port
      assert_equal 0, process.stop.exitstatus, process.err
      assert lives?(child), "the child is no more, so this test has shown nothing"
      TCPServer.open("127.0.0.1", port).close
    end
    teardown
  end

  # Its pid, once the file has it.
  def child_of_the_app
    File.read("#{@directory}/child").to_i.nonzero?
  end

  # A zombie does not count.
  def lives?(pid)
    File.read("/proc/#{pid}/stat")[/\) (\S)/, 1] != "Z"
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end

  def closed(all) = all.map { |listeners| listeners.sockets.all?(&:closed?) }

  # What the block returns in a forked child.
  def in_child
    reader, writer = IO.pipe
    pid = fork do
      writer.write(JSON.generate(yield))
      exit!(0)
    end
    writer.close
    JSON.parse(reader.read)
  ensure
    reader.close
    Process.wait(pid)
  end
end

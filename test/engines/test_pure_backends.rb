# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "cuttle/cores/pure"

# The back ends of the core in Ruby: each takes more descriptors than FD_SETSIZE, and where select does not, the server
# says so and serves the others.
class TestPureBackends < Minitest::Test
  include Serving

  MANY = 600 # connections, each with two descriptors in this process
  GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  APP = ->(_env) { [200, {}, ["hello"]] }

  def setup
    @backend = ENV.fetch("CUTTLE_BACKEND", nil)
    @before = Process.getrlimit(:NOFILE)
    skip "the hard limit of descriptors is #{@before.last}" if @before.last < 4 * MANY

    Process.setrlimit(:NOFILE, 4 * MANY, @before.last) if @before.first < 4 * MANY
    @sockets = []
  end

  def teardown
    @sockets&.each(&:close)
    Process.setrlimit(:NOFILE, *@before)
    ENV["CUTTLE_BACKEND"] = @backend
  end

  Cuttle::Cores::Pure::Poller.backends.each do |backend|
    define_method(:"test_more_connections_than_fd_setsize_on_#{backend}") do
      with(backend) do |server|
        connect(server, MANY)
        @sockets.each { |socket| socket.write(GET) }
        @sockets.each { |socket| assert_match(/\AHTTP.1\.1 200/, answer(socket)) }
        assert_equal MANY, server.stats[:connections]
      end
    end

    define_method(:"test_it_knows_its_name_#{backend}") do
      ENV["CUTTLE_BACKEND"] = backend
      assert_equal backend, Cuttle::Cores::Pure::Poller.new([], env: {}).backend
    end
  end

  def test_a_back_end_that_is_not_there
    ENV["CUTTLE_BACKEND"] = "nowhere"
    error = assert_raises(ArgumentError) { Cuttle::Cores::Pure::Poller.new([], env: {}) }
    assert_match(/CUTTLE_BACKEND=nowhere/, error.message)
  end

  # What select does on some other systems.
  %w[hybrid threads].each do |engine|
    define_method(:"test_a_select_that_takes_no_large_descriptor_#{engine}") do
      err = written_to_stderr { small_select { assert_serves_the_others(engine) } }
      assert_equal 1, err.scan("select takes no descriptor beyond 1023").size, err
    end
  end

  private

  def with(backend, **options, &block)
    ENV["CUTTLE_BACKEND"] = backend
    serving(APP, core: "pure", drain_grace: 0, **options, &block)
  end

  def connect(server, count)
    count.times { @sockets << TCPSocket.new("127.0.0.1", server.port) }
  end

  def answer(socket)
    assert socket.wait_readable(PATIENCE)
    socket.readpartial(4_096)
  rescue EOFError, Errno::ECONNRESET
    "closed"
  end

  def small_select(&block)
    select = IO.method(:select)
    limited = lambda do |readers, writers = nil, *rest|
      raise Errno::EINVAL if [*readers, *writers].any? { |io| !io.closed? && io.fileno >= 1_024 }

      select.call(readers, writers, *rest)
    end
    IO.stub(:select, limited, &block)
  end

  # The first connection has a small descriptor, the last one a large one, as files are open between the two.
  def assert_serves_the_others(engine)
    with("select", engine: engine) do |server|
      # Until then, an idle connection gives its thread to one that waits.
      eventually("there is a free thread") { server.stats[:threads] > 1 }
      connect(server, 1)
      @sockets.first.write(GET)
      assert_match(/200 OK/, answer(@sockets.first))
      files = Array.new(1_024) { File.open(File::NULL) }
      connect(server, 1)
      assert_equal "closed", answer(@sockets.last)
      files.each(&:close)
      @sockets.first.write(GET)
      assert_match(/200 OK/, answer(@sockets.first))
    end
  end

  # What the block writes to $stderr.
  def written_to_stderr
    reader, writer = IO.pipe
    before, $stderr = $stderr, writer
    yield
    writer.close
    reader.read
  ensure
    $stderr = before
    [reader, writer].each { |io| io&.close }
  end
end

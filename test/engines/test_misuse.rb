# frozen_string_literal: true

require "open3"
require "test_helper"

# The core's objects, asked in an unusual order or for what makes no sense: exceptions, and never a crash or a lock that
# stays. Each script is a process of its own, for these have ended some, and stopped others for ever.
class TestMisuse < Minitest::Test
  SERVING = <<~'RUBY'
    require "cuttle"
    require "socket"
    listener = TCPServer.new("127.0.0.1", 0)
    model = Cuttle::Engines.fetch(ARGV[0])
    source = model.source([listener], core: Cuttle::Cores::Native, env: {})
    service = Object.new
    service.define_singleton_method(:call) do |exchange|
      exchange.respond(200, {}, ["hi"]) unless exchange.answer(200, {}, ["hi"])
    end
    client = TCPSocket.new("127.0.0.1", listener.local_address.ip_port)
    client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    engine = model.new(source: source, service: service, threads: 1..1, max_fibers: 8)
    running = Thread.new { engine.run }
    print client.read[/\r\n\r\n(.*)/m, 1]
    engine.stop
    running.join
  RUBY

  WATCHING = <<~RUBY
    require "cuttle"
    require "socket"
    poller = Cuttle::Poller.new([TCPServer.new("127.0.0.1", 0)], env: {})
    begin
      poller.public_send(ARGV[0], *eval(ARGV[1]))
      print "nothing, "
    rescue StandardError => error
      print error.class, ", "
    end
    poller.stats
    print poller.next(0.01).inspect
  RUBY

  # SEGV: it looked for callbacks in an env that there was not.
  Serving::ENGINES.each do |engine|
    define_method("test_an_answer_before_the_env_was_asked_for_under_#{engine}") do
      assert_equal "hi", said_by(SERVING, engine)
    end
  end

  RECORDING = <<~'RUBY'
    require "cuttle"
    require "socket"
    listener = TCPServer.new("127.0.0.1", 0)
    poller = Cuttle::Poller.new([listener], env: {})
    client = TCPSocket.new("127.0.0.1", listener.local_address.ip_port)
    2.times do |count|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      exchange = poller.next
      2.times { exchange.keep_record } if count == 1
      exchange.respond(200, {}, ["hi"])
      GC.start
      GC.compact if GC.respond_to?(:compact) && GC.respond_to?(:verify_compaction_references)
      raise "no error" if (exchange.keep_record rescue :over) != :over
      print [exchange.times&.none?(&:nil?), exchange.bytes_sent&.>(50), exchange.remote_address], " "
    end
  RUBY

  # What an exchange says of the past is kept only where somebody has asked for that.
  def test_the_record_of_an_exchange_that_is_over
    assert_equal %([nil, nil, nil] [true, true, "127.0.0.1"] ), said_by(RECORDING)
  end

  # It was raised with the loop's lock held, so the next thread waited forever.
  def test_a_descriptor_that_is_no_number
    assert_equal "TypeError, false", said_by(WATCHING, "unwatch", "[nil]")
    assert_equal "TypeError, false", said_by(WATCHING, "watch", "[nil, IO::READABLE, :token]")
    assert_equal "TypeError, false", said_by(WATCHING, "watch", "[0, nil, :token]")
    assert_equal "RangeError, false", said_by(WATCHING, "watch", "[2**40, IO::READABLE, :token]")
  end

  # Was the index of a table.
  def test_a_descriptor_below_zero
    refusal = "ArgumentError|Errno::EBADF|RangeError"
    [-1, -2, -(2**31)].each do |descriptor|
      said = said_by(WATCHING, "watch", "[#{descriptor}, IO::READABLE, :token]")
      assert_match(/\A(#{refusal}), false\z/, said)
      assert_match(/\A(nothing|#{refusal}), false\z/, said_by(WATCHING, "unwatch", "[#{descriptor}]"))
    end
  end

  private

  # The standard output of a script that comes to a good end.
  def said_by(script, *arguments)
    Open3.popen3(*Serving::ServingProcess.ruby, "-e", script, *arguments) do |_, out, err, process|
      process.join(10) || Process.kill("KILL", process.pid)
      assert process.value.success?, "#{arguments.inspect}: #{process.value} #{err.read[0, 300]}"
      out.read
    end
  end
end

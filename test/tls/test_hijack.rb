# frozen_string_literal: true

require_relative "tls_case"
require "timeout"

# Hijacked connections: the app gets a socket of its own, whose octets go through TLS.
class TestTlsHijack < TlsCase
  each_engine("what_is_written_and_closed_arrives_with_a_farewell") do |engine|
    app = lambda do |env|
      socket = env["rack.hijack"].call
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n#{"w" * 3_000_000}")
      socket.close
      [200, {}, []]
    end
    secured(app, engine: engine) do |server|
      client = connect(server, receive_buffer: 4096).write(GET)
      assert_equal 3_000_000, client.response.body.bytesize
      assert_equal :closed, client.ending
    end
  end

  # As Action Cable does: IO.select on io.to_io, read_nonblock, write_nonblock.
  each_engine("an_event_loop_may_drive_it") do |engine|
    app = lambda do |env|
      socket = env["rack.hijack"].call
      Thread.new { echo(socket) }
      [200, {}, []]
    end
    secured(app, engine: engine) do |server|
      clients = Array.new(5) { connect(server).write("#{GET}first ") }
      clients.each { |client| assert_equal "FIRST ", client.exactly(6) }
      3.times do |round|
        clients.each { |client| client.write("round #{round} #{"z" * 40_000}") }
        clients.each { |client| assert_equal "ROUND #{round} #{"Z" * 40_000}", client.exactly(40_008) }
      end
      clients.each(&:half_close)
      clients.each { |client| assert_equal :closed, client.ending }
    end
  end

  # Octets that came with the request, in the same record and in later ones, are the app's.
  each_engine("what_came_with_the_request_is_the_apps") do |engine|
    app = lambda do |env|
      socket = env["rack.hijack"].call
      socket.write(socket.readpartial(5) + socket.read(100_000))
      socket.close
      [200, {}, []]
    end
    secured(app, engine: engine) do |server|
      rest = Random.new(1).bytes(100_005)
      client = connect(server).write(GET + rest)
      assert_equal rest, client.exactly(100_005)
    end
  end

  each_engine("an_upgrade_is_a_stream") do |engine|
    speak = lambda do |stream|
      loop { stream.write(stream.readpartial(1000).upcase) }
    rescue EOFError
      stream.close
    end
    app = ->(_) { [101, { "connection" => "upgrade", "upgrade" => "capitals", "rack.hijack" => speak }, nil] }
    secured(app, engine: engine) do |server|
      client = connect(server).write("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: capitals\r\n\r\n")
      assert_equal 101, client.response.status
      %w[one two].each do |word|
        client.write(word)
        assert_equal word.upcase, client.exactly(3)
      end
      assert_equal :closed, client.half_close.ending
    end
  end

  # The app learns of a client's end as its input's end, and of a client that vanished too.
  each_engine("a_client_that_goes") do |engine|
    ends = Queue.new
    secured(reading_into(ends), engine: engine) do |server|
      connect(server).write("#{GET}bye").half_close
      assert_equal "bye", Timeout.timeout(PATIENCE) { ends.pop }
      connect(server).write(GET).reset
      assert_equal "", Timeout.timeout(PATIENCE) { ends.pop }
    end
  end

  # What the client sent after the end of the app's output came as it was on the wire.
  each_engine("an_app_may_close_its_side_first") do |engine|
    ends = Queue.new
    app = reading_into(ends) { |socket| socket.write("all") && socket.close_write }
    secured(app, engine: engine) do |server|
      client = connect(server).write(GET)
      assert_equal "all", client.to_end
      client.write("after that").half_close
      assert_equal "after that", Timeout.timeout(PATIENCE) { ends.pop }
    end
  end

  # What an app does not read stays with the client.
  def test_an_app_that_does_not_read_slows_its_client_down
    sockets = Queue.new
    app = lambda do |env|
      sockets << env["rack.hijack"].call
      [200, {}, []]
    end
    secured(app) do |server|
      client = connect(server).write(GET)
      socket = sockets.pop
      body = Random.new(2).bytes(20_000_000)
      writer = Thread.new { client.write(body) }
      assert_equal Digest::SHA256.hexdigest(body), Digest::SHA256.hexdigest(socket.read(body.bytesize))
      writer.join
      socket.close
    end
  end

  # A server process that ends sends what its apps have written.
  def test_the_end_of_the_process
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", <<~RUBY)
        kept = []
        run(lambda do |env|
          kept << (socket = env["rack.hijack"].call)
          socket.write("HTTP/1.1 200 OK\\r\\nContent-Length: 100000\\r\\n\\r\\n" + "l" * 100_000)
          Process.kill("TERM", Process.pid)
          [200, {}, []]
        end)
      RUBY
      serving_process("#{directory}/config.ru", "-b", TlsFiles.uri) do |process|
        client = connect(process).write(GET)
        assert_equal 100_000, client.response.body.bytesize
        assert_equal :closed, client.ending
        eventually("the server's end") { !process.running? }
        assert_equal 0, process.status.exitstatus
      end
    end
  end

  private

  # An app that takes its socket over, and puts into +ends+ all that the client sends. The block gets the socket first.
  def reading_into(ends)
    lambda do |env|
      socket = env["rack.hijack"].call
      Thread.new do
        yield socket if block_given?
        ends << socket.read
        socket.close
      end
      [200, {}, []]
    end
  end

  def echo(socket)
    pending = +""
    loop do
      IO.select([socket.to_io], pending.empty? ? nil : [socket.to_io])
      read = socket.read_nonblock(4096, exception: false)
      break socket.close if read.nil?

      pending << read.upcase if read.is_a?(String)
      written = pending.empty? ? 0 : socket.write_nonblock(pending, exception: false)
      pending.slice!(0, written) if written.is_a?(Integer)
    end
  end
end

# frozen_string_literal: true

require "test_helper"
require "openssl"
require "tmpdir"

# https, against a server with a certificate made for the test.
class TestLoadTls < Minitest::Test
  Load = Cuttle::Load

  def setup
    skip "built without OpenSSL" unless Load::TLS_AVAILABLE

    @key = OpenSSL::PKey::EC.generate("prime256v1")
    @certificate = certificate(@key)
  end

  def certificate(key, names = "DNS:localhost,IP:127.0.0.1")
    certificate = OpenSSL::X509::Certificate.new
    certificate.version = 2
    certificate.serial = 1
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
    certificate.public_key = key
    certificate.not_before = Time.now - 60
    certificate.not_after = Time.now + 3600
    factory = OpenSSL::X509::ExtensionFactory.new(certificate, certificate)
    certificate.add_extension(factory.create_extension("basicConstraints", "CA:TRUE", true))
    certificate.add_extension(factory.create_extension("subjectAltName", names))
    certificate.sign(key, "SHA256")
  end

  # Yields the port of a server that answers +answer+ to whatever it reads. +ending+: how it then ends the connection,
  # called with the SSLSocket; nil: not at all.
  def serving(answer = Load::TestServers::ANSWER, ending: nil)
    context = OpenSSL::SSL::SSLContext.new
    context.cert = @certificate
    context.key = @key
    listener = TCPServer.new("127.0.0.1", 0)
    threads = []
    acceptor = Thread.new { loop { threads << serve(listener.accept, context, answer, ending) } }
    yield listener.local_address.ip_port
  ensure
    acceptor&.kill
    threads&.each(&:kill)
    listener&.close
  end

  def serve(socket, context, answer, ending)
    Thread.new do
      ssl = OpenSSL::SSL::SSLSocket.new(socket, context)
      ssl.sync_close = true
      ssl.accept
      while ssl.readpartial(10_000)
        ssl.write(answer)
        break ending.call(ssl) if ending
      end
    rescue OpenSSL::SSL::SSLError, SystemCallError, EOFError
      ssl&.close
    end
  end

  def authorities
    Dir.mktmpdir do |directory|
      path = File.join(directory, "ca.pem")
      File.write(path, @certificate.to_pem)
      yield path
    end
  end

  def test_requests_over_tls
    serving do |port|
      result = Load.run("https://127.0.0.1:#{port}/", requests: 200, connections: 4, threads: 2, insecure: true)

      assert_equal [200, 0, 4], [result.responses, result.failures, result.opened]
    end
  end

  def test_large_responses
    body = "x" * 300_000
    serving("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}") do |port|
      result = Load.run("https://127.0.0.1:#{port}/", requests: 20, connections: 2, insecure: true)

      assert_equal [20, 0], [result.responses, result.failures]
      assert_operator result.octets, :>=, 20 * body.bytesize
    end
  end

  def test_large_requests
    serving do |port|
      result = Load.run("https://127.0.0.1:#{port}/", requests: 3, connections: 1, insecure: true, keep_alive: false,
body: "y" * 8000)

      assert_equal 3, result.responses
    end
  end

  # An error says that it was followed: the answer is the same redirect again.
  def test_redirects_with_the_default_port_are_followed
    { "https://app.test:443/x" => 1, "https://app.test:80/x" => 0 }.each do |location, followed|
      serving("HTTP/1.1 302 Found\r\nLocation: #{location}\r\nContent-Length: 0\r\n\r\n") do |port|
        result = Load.run("https://127.0.0.1:#{port}/", requests: 1, connections: 1, insecure: true, follow: 1,
                                                        headers: [["Host", "app.test"]])

        assert_equal [1, followed], [result.responses, result.errors[:redirect]], location
      end
    end
  end

  def test_an_open_loop_with_a_connection_each
    serving do |port|
      result = Load.run("https://127.0.0.1:#{port}/", rate: 50, duration: 0.5, insecure: true, keep_alive: false)

      assert_equal [25, 25], [result.responses, result.opened]
    end
  end

  CUT = ->(ssl) { ssl.io.close }
  TO_THE_END = "HTTP/1.1 200 OK\r\n\r\nHello"

  def errors_of(answer, ending)
    serving(answer, ending: ending) do |port|
      result = Load.run("https://127.0.0.1:#{port}/", requests: 4, connections: 1, insecure: true)
      result.errors.select { |_, count| count.positive? }
    end
  end

  # Somebody else may have ended the connection (RFC 9112, 9.8).
  def test_a_body_to_the_end_needs_an_announced_end
    assert_equal({ early_close: 4 }, errors_of(TO_THE_END, CUT))
    assert_equal({}, errors_of(TO_THE_END, :close.to_proc))
  end

  def test_an_end_without_an_announcement
    head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"

    assert_equal({}, errors_of("#{head}Connection: close\r\n\r\nHello", CUT))
    assert_equal({ length: 4 }, errors_of("#{head}\r\nHel", CUT))
    assert_equal({ early_close: 4 }, errors_of(head, CUT))
  end

  def test_certificates_are_checked
    serving do |port|
      error = assert_raises(Load::Failure) { Load.run("https://127.0.0.1:#{port}/", requests: 1, connections: 1) }

      assert_match(/TLS: certificate: self.signed certificate/, error.message)
      authorities do |path|
        assert_equal 5, Load.run("https://localhost:#{port}/", requests: 5, connections: 1, authorities: path).responses
        assert_equal 5, Load.run("https://127.0.0.1:#{port}/", requests: 5, connections: 1, authorities: path).responses
      end
    end
  end

  def test_a_run_whose_handshakes_all_fail_ends_early
    serving do |port|
      error = assert_raises(Load::Generator::Incomplete) do
        Load.run("https://127.0.0.1:#{port}/", duration: 600, connections: 2)
      end

      assert_match(/TLS: certificate/, error.message)
      assert error.result.interrupted?
    end
  end

  def test_names_are_checked
    @certificate = certificate(@key, "DNS:elsewhere.test")
    serving do |port|
      authorities do |path|
        ["localhost", "127.0.0.1"].each do |host|
          error = assert_raises(Load::Failure) do
            Load.run("https://#{host}:#{port}/", requests: 1, connections: 1, authorities: path)
          end

          assert_match(/TLS: certificate: (hostname|IP address) mismatch/, error.message)
        end
      end
    end
  end

  def test_a_server_without_tls
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      loop do
        socket = listener.accept
        socket.write("HTTP/1.1 400 Bad Request\r\n\r\n") if socket.wait_readable(1)
        socket.close
      end
    end
    error = assert_raises(Load::Failure) do
      Load.run("https://127.0.0.1:#{listener.local_address.ip_port}/", requests: 1, connections: 1)
    end

    assert_match(/TLS: handshake failed: wrong version/, error.message)
  ensure
    thread&.kill
    listener&.close
  end

  def test_authorities_that_are_none
    error = assert_raises(Load::Failure) do
      serving { |port| Load.run("https://127.0.0.1:#{port}/", authorities: "/no/such/file") }
    end

    assert_match(/certificate authorities/, error.message)
  end
end

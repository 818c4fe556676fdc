# frozen_string_literal: true

require "test_helper"

# Tests of TLS run over one engine of each kind of source, in this process. Without OpenSSL there is nothing to test.
class TlsCase < Minitest::Test
  include Serving

  HELLO = ->(_env) { [200, { "content-type" => "text/plain" }, ["hello"]] }
  SHOW = ->(env) { [200, {}, [env.select { |key, _| key.match?(/\A(SSL_|HTTPS|SERVER_|rack.url)/) }.inspect]] }
  ENGINES = ENV["CUTTLE_ENGINE"]&.split(",") || %w[hybrid threads]
  GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

  def self.each_engine(name, &body)
    ENGINES.each { |engine| define_method("test_#{name}_with_#{engine}") { instance_exec(engine, &body) } }
  end

  def setup
    skip "built without OpenSSL" unless Cuttle::Cores.fetch("native").tls
    @clients = []
  end

  def teardown
    @clients&.each(&:close)
  end

  # A server that speaks TLS; +query+ follows its URI.
  def secured(app = HELLO, query: TlsFiles.identity.query, **options, &block)
    serving(app, binds: [TlsFiles.uri(query)], drain_grace: 0.1, **options, &block)
  end

  # A client that speaks TLS and is closed at the end; +options+ are TlsSocket's.
  def connect(server, receive_buffer: nil, **options)
    tls = { ca: TlsFiles.authority.cert_path, **options }
    WireClient.new(server.port, tls: tls, receive_buffer: receive_buffer).tap { |client| @clients << client }
  end

  # A client that sends octets as they are.
  def plain(server, **options)
    WireClient.new(server.port, **options).tap { |client| @clients << client }
  end

  def ask(server, request = GET, **options) = connect(server, **options).ask(request)

  # The handshake's failure that the client saw.
  def refused(server, **options)
    client = connect(server, **options)
    client.ask(GET) # TLS 1.3 tells of a wrong certificate only afterwards
    flunk "the handshake should have failed"
  rescue OpenSSL::SSL::SSLError, Errno::ECONNRESET, WireClient::Truncated => error
    error
  end

  def assert_serves(server) = assert_equal("hello", ask(server).body)

  # The serial number of the certificate that a client gets.
  def serial(server, **options) = connect(server, **options).socket.ssl.peer_cert.serial
end

# frozen_string_literal: true

require_relative "tls_case"

# What an app and an honest client see of TLS.
class TestTlsServing < TlsCase
  each_engine("an_app_learns_of_tls") do |engine|
    secured(SHOW, engine: engine) do |server|
      assert_match %r{\Ahttps://127\.0\.0\.1:\d+\z}, server.url
      env = ask(server, hostname: "localhost").body
      { "HTTPS" => "on", "rack.url_scheme" => "https", "SERVER_PORT" => "443", "SSL_PROTOCOL" => "TLSv1.3",
        "SSL_SERVER_NAME" => "localhost" }.each { |key, value| assert_match(/"#{key}" ?=> ?"#{value}"/, env) }
      assert_match(/"SSL_CIPHER" ?=> ?"TLS_/, env)
      refute_match(/SSL_CLIENT/, env)
    end
  end

  # RFC 9110, 7.4: it has to be asked for like this (test_host_and_target.rb has the opposite).
  def test_an_https_resource
    secured(SHOW) do |server|
      assert_equal 200, ask(server, "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n").status
    end
  end

  # The state of one connection must not reach another one.
  def test_plain_connections_of_the_same_server_are_plain
    serving(SHOW, binds: ["tcp://127.0.0.1:0", TlsFiles.uri]) do |server|
      plain_port, port = server.uris.map { |uri| uri[/\d+\z/].to_i }
      both = [nil, {}, nil].map do |tls|
        WireClient.open(tls ? port : plain_port, tls: tls) { |client| client.ask(GET).body }
      end
      assert_equal [false, true, false], both.map { |env| env.include?("HTTPS") }
      assert_equal [false, true, false], both.map { |env| env.match?(/"rack.url_scheme" ?=> ?"https"/) }
    end
  end

  each_engine("ten_megabytes_both_ways") do |engine|
    body = Random.new(7).bytes(10_000_000)
    secured(->(env) { [200, {}, [env["rack.input"].read]] }, engine: engine) do |server|
      request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n".b + body
      answer = connect(server, receive_buffer: 16_384).ask(request)
      assert_equal Digest::SHA256.hexdigest(body), Digest::SHA256.hexdigest(answer.body)
    end
  end

  # The head goes ahead of a large body that is lent, of a file, and of pieces that fill no record.
  each_engine("what_a_slow_client_does_not_read_waits_in_order") do |engine|
    parts = Array.new(3000) { |number| "#{number} #{"p" * (number % 900)}\n" }
    file = Tempfile.new("cuttle").tap { |temporary| temporary.write(Random.new(3).bytes(3_000_000)) && temporary.flush }
    app = lambda do |env|
      case env["PATH_INFO"]
      when "/lent" then [200, {}, ["l" * 3_000_000, "m" * 3_000_000]]
      when "/pieces" then [200, {}, parts.each]
      else [200, {}, File.open(file.path, "rb")]
      end
    end
    expected = { "/lent" => ("l" * 3_000_000) + ("m" * 3_000_000), "/pieces" => parts.join,
                 "/file" => File.binread(file.path) }
    secured(app, engine: engine) do |server|
      expected.each do |path, body|
        client = connect(server, receive_buffer: 4096)
        client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
        2.times { assert_equal Digest::SHA256.hexdigest(body), Digest::SHA256.hexdigest(client.response.body), path }
      end
    end
  end

  each_engine("pipelined_requests") do |engine|
    secured(->(env) { [200, {}, [env["PATH_INFO"]]] }, engine: engine) do |server|
      client = connect(server)
      client.write(Array.new(2000) { |number| "GET /#{number} HTTP/1.1\r\nHost: a\r\n\r\n" }.join)
      2000.times { |number| assert_equal "/#{number}", client.response.body }
    end
  end

  # Records of one octet, of heads and of bodies.
  each_engine("octet_by_octet") do |engine|
    secured(->(env) { [200, {}, [env["rack.input"].read]] }, engine: engine) do |server|
      client = connect(server)
      2.times do
        client.dribble("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        assert_equal "abc", client.response.body
      end
    end
  end

  # A client that has sent its last octets gets its answer, and close_notify.
  each_engine("a_farewell_from_both_sides") do |engine|
    secured(HELLO, engine: engine) do |server|
      client = connect(server).write(GET).half_close
      assert_equal "hello", client.response.body
      assert_equal :closed, client.ending
      assert_equal :closed, connect(server).write(GET.sub("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))
                                           .tap(&:response).ending
    end
  end

  # The end of a response that ends with the connection must not be mistaken for a cut.
  each_engine("a_farewell_after_a_large_response_to_a_slow_client") do |engine|
    secured(->(_) { [200, {}, ["x" * 3_000_000].each] }, engine: engine) do |server|
      5.times do
        client = connect(server, receive_buffer: 4096).write("GET / HTTP/1.0\r\n\r\n")
        assert_equal 3_000_000, client.response.body.bytesize
        assert_equal :closed, client.ending
      end
    end
  end

  each_engine("a_response_that_is_cut_off_ends_without_a_farewell") do |engine|
    app = ->(_) { [200, {}, Enumerator.new { |parts| (parts << "some") && raise("on purpose") }] }
    _, err = capture_io do
      secured(app, engine: engine) do |server|
        client = connect(server).write("GET / HTTP/1.0\r\n\r\n")
        assert_raises(WireClient::Truncated) { client.to_end }
      end
    end
    assert_includes err, "on purpose"
  end

  each_engine("idle_connections_end_with_a_farewell") do |engine|
    secured(HELLO, engine: engine, idle_timeout: 0.1) do |server|
      client = connect(server)
      client.ask(GET)
      assert_equal :closed, client.ending
    end
  end

  def test_versions
    one_two, one_three = OpenSSL::SSL::TLS1_2_VERSION, OpenSSL::SSL::TLS1_3_VERSION
    secured(SHOW) do |server|
      assert_match(/TLSv1\.2/, ask(server, versions: [one_two, one_two]).body)
      refused(server, versions: [OpenSSL::SSL::TLS1_VERSION, OpenSSL::SSL::TLS1_1_VERSION])
    end
    secured(SHOW, query: "#{TlsFiles.identity.query}&min_version=1.3") do |server|
      refused(server, versions: [one_two, one_two])
      assert_match(/TLSv1\.3/, ask(server, versions: [one_two, one_three]).body)
    end
  end

  def test_ciphers_are_those_that_were_asked_for
    query = "#{TlsFiles.identity.query}&ssl_cipher_filter=ECDHE-ECDSA-CHACHA20-POLY1305&" \
            "ssl_ciphersuites=TLS_CHACHA20_POLY1305_SHA256"
    versions = [OpenSSL::SSL::TLS1_2_VERSION, OpenSSL::SSL::TLS1_3_VERSION]
    secured(query: query) do |server|
      found = versions.map { |version| connect(server, versions: [version, version]).socket.ssl.cipher.first }
      assert_equal %w[ECDHE-ECDSA-CHACHA20-POLY1305 TLS_CHACHA20_POLY1305_SHA256], found
    end
  end

  def test_alpn
    secured do |server|
      assert_equal "http/1.1", connect(server, alpn: %w[h2 http/1.1]).socket.ssl.alpn_protocol
      assert_nil connect(server).socket.ssl.alpn_protocol
      assert_kind_of OpenSSL::SSL::SSLError, refused(server, alpn: %w[h2])
    end
  end

  # The header comes before the handshake, with octets of the handshake behind it or apart from them.
  def test_a_proxy_header_precedes_the_handshake
    show = ->(env) { [200, {}, [env.values_at("REMOTE_ADDR", "HTTPS").join(" ")]] }
    header = "PROXY TCP4 192.0.2.7 192.0.2.1 1234 443\r\n"
    ENGINES.each do |engine|
      secured(show, engine: engine, trust: ["127.0.0.1"], proxy_protocol: true) do |server|
        tls = { ca: TlsFiles.authority.cert_path }
        WireClient.open(server.port, first: header, tls: tls) do |client|
          2.times { assert_equal "192.0.2.7 on", client.ask(GET).body }
        end
        assert_equal "192.0.2.7 on", joined(server, header)
      end
    end
  end

  private

  # Sends the header and the client's first octets in one packet: a relay holds back what comes before them.
  def joined(server, header)
    ours, theirs = UNIXSocket.pair
    outer = TCPSocket.new("127.0.0.1", server.port)
    relay = Thread.new { relay(theirs, outer, header) }
    tls = TlsSocket.new(ours, deadline: PATIENCE)
    tls.write_nonblock(GET)
    answer = tls.ssl.readpartial(1000)
    answer.split("\r\n\r\n", 2).last
  ensure
    relay&.kill
    [ours, theirs, outer].compact.each(&:close)
  end

  def relay(inner, outer, header)
    outer.write(header + inner.readpartial(100_000))
    loop do
      ready, = IO.select([inner, outer])
      ready.each { |from| (from == inner ? outer : inner).write(from.readpartial(100_000)) }
    end
  rescue IOError, SystemCallError
    nil
  end
end

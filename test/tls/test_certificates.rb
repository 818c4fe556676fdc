# frozen_string_literal: true

require "minitest/mock"
require_relative "tls_case"

# Which certificate a client gets, which clients are let in, and what happens when files change or are wrong.
class TestTlsCertificates < TlsCase
  def test_the_name_decides
    one, two, wild = TlsFiles.identity("one.test"), TlsFiles.identity("two.test"), TlsFiles.identity("*.wild.test")
    secured(query: [one, two, wild].map(&:query).join("&")) do |server|
      { "one.test" => one, "two.test" => two, "TWO.test" => two, "a.wild.test" => wild, "other.test" => one,
        nil => one }.each do |name, identity|
        assert_equal identity.certificate.serial, serial(server, hostname: name), name.inspect
      end
      assert_equal "hello", ask(server, hostname: "two.test").body
    end
  end

  # Two keys for the same name: OpenSSL takes the one whose signatures the client understands.
  def test_the_key_decides
    pair = %i[ec rsa].map { |kind| TlsFiles.identity("both.test", kind: kind) }
    secured(query: pair.map(&:query).join("&")) do |server|
      version = OpenSSL::SSL::TLS1_2_VERSION
      found = %w[ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-GCM-SHA256].map do |cipher|
        context = OpenSSL::SSL::SSLContext.new
        context.max_version = version
        context.ciphers = cipher
        TCPSocket.open("127.0.0.1", server.port) do |socket|
          OpenSSL::SSL::SSLSocket.new(socket, context).connect.peer_cert.serial
        end
      end
      assert_equal pair.map { |identity| identity.certificate.serial }, found
    end
  end

  def test_a_chain_is_sent_whole
    chain = File.join(TlsFiles.directory, "chain.pem")
    File.write(chain, TlsFiles.identity.certificate.to_pem + TlsFiles.authority.certificate.to_pem)
    secured(query: "cert=#{chain}&key=#{TlsFiles.identity.key_path}") do |server|
      assert_equal 2, connect(server).socket.ssl.peer_cert_chain.length
    end
  end

  def test_certificate_and_key_may_be_in_one_file
    both = File.join(TlsFiles.directory, "both.pem")
    File.write(both, TlsFiles.identity.certificate.to_pem + TlsFiles.identity.key.private_to_pem)
    secured(query: "cert=#{both}") { |server| assert_serves(server) }
  end

  # Clients

  each_engine("a_client_must_show_a_certificate") do |engine|
    secured(SHOW, engine: engine, query: clients("force_peer")) do |server|
      refused(server)
      refused(server, **shown(TlsFiles.identity("mallory", issuer: TlsFiles.stranger)))
      client = connect(server, **shown(TlsFiles.identity("alice")))
      2.times do
        env = client.ask(GET).body
        assert_match(/"SSL_CLIENT_VERIFY" ?=> ?"SUCCESS"/, env)
        assert_match(/"SSL_CLIENT_S_DN" ?=> ?"CN=alice,O=Cuttle"/, env)
        pem = env[/-----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----/m].gsub('\n', "\n")
        assert_equal TlsFiles.identity("alice").certificate, OpenSSL::X509::Certificate.new(pem)
      end
    end
  end

  def test_a_client_may_show_a_certificate
    secured(SHOW, query: clients("peer")) do |server|
      env = ask(server).body
      assert_match(/"SSL_CLIENT_VERIFY" ?=> ?"NONE"/, env)
      refute_match(/SSL_CLIENT_CERT/, env)
      refused(server, **shown(TlsFiles.identity("mallory", issuer: TlsFiles.stranger)))
      assert_match(/"SUCCESS"/, ask(server, **shown(TlsFiles.identity("alice"))).body)
    end
  end

  # Only the handshake tells the server about a certificate.
  def test_fields_do_not_pass_for_facts
    secured(SHOW, query: clients("peer")) do |server|
      env = ask(server, "GET / HTTP/1.1\r\nHost: a\r\nSSL-Client-Verify: SUCCESS\r\nSSL_CLIENT_CERT: x\r\n\r\n").body
      assert_match(/"SSL_CLIENT_VERIFY" ?=> ?"NONE"/, env)
      refute_match(/"SSL_CLIENT_CERT"/, env)
    end
  end

  # Sessions

  def test_sessions_are_resumed
    [OpenSSL::SSL::TLS1_2_VERSION, OpenSSL::SSL::TLS1_3_VERSION].each do |version|
      secured do |server|
        session = session_of(server, versions: [version, version])
        again = connect(server, session: session, versions: [version, version])
        assert_equal "hello", again.ask(GET).body
        assert_predicate again.socket.ssl, :session_reused?
      end
    end
  end

  # Their tickets are sealed with another secret.
  def test_sessions_of_another_server_are_not
    session = secured { |server| break session_of(server) }
    secured do |server|
      again = connect(server, session: session)
      assert_equal "hello", again.ask(GET).body
      refute_predicate again.socket.ssl, :session_reused?
    end
  end

  # Files

  def test_changed_files_are_used_by_new_connections
    Dir.mktmpdir("cuttle") do |directory|
      before = TlsFiles.own_identity(directory)
      secured(query: before.query) do |server|
        kept = connect(server)
        assert_equal before.certificate.serial, kept.socket.ssl.peer_cert.serial
        look_twice(server)
        assert_equal before.certificate.serial, serial(server)
        after = TlsFiles.own_identity(directory)
        look_twice(server)
        assert_equal after.certificate.serial, serial(server)
        assert_equal "hello", kept.ask(GET).body
        assert_predicate session_resumed(server, kept), :session_reused?
      end
    end
  end

  # A tool writes the file first, and lets the server's user read it afterwards.
  def test_other_permissions_are_a_change
    Dir.mktmpdir("cuttle") do |directory|
      identity = TlsFiles.own_identity(directory)
      tls, loads = counting(identity)
      look_twice(tls)
      assert_equal 1, loads.call
      File.chmod(0o640, identity.cert_path)
      look_twice(tls)
      assert_equal 2, loads.call
    end
  end

  # A look that fell between a key and its certificate found that they don't belong together.
  def test_files_are_read_once_they_have_stayed_the_same_for_a_while
    Dir.mktmpdir("cuttle") do |directory|
      identity = TlsFiles.own_identity(directory)
      tls, loads = counting(identity)
      File.write(identity.key_path, TlsFiles.stranger.key.private_to_pem)
      tls.refresh(100)
      File.write(identity.cert_path, TlsFiles.stranger.certificate.to_pem)
      [101, 102, 102.9].each { |now| tls.refresh(now) }
      assert_equal 1, loads.call
      tls.refresh(103)
      assert_equal 2, loads.call
      look_twice(tls)
      assert_equal 2, loads.call
    end
  end

  # A process without descriptors reads them once it has some, though no file changes then. It says so once.
  def test_files_that_could_not_be_read_for_a_moment
    Dir.mktmpdir("cuttle") do |directory|
      identity = TlsFiles.own_identity(directory)
      tls, loads = counting(identity)
      TlsFiles.own_identity(directory)
      _, err = capture_io do
        File.stub(:binread, ->(path) { raise Errno::EMFILE, path }) { [100, 105, 110].each { |now| tls.refresh(now) } }
      end
      assert_match(/\Acuttle: can't listen on .*Too many open files.*; the earlier certificates stay in use\n\z/, err)
      assert_equal 1, loads.call
      tls.refresh(115)
      assert_equal 2, loads.call
      tls.refresh(120)
      assert_equal 2, loads.call
    end
  end

  # A key that does not belong to the certificate, half a file, none at all.
  def test_wrong_files_leave_the_earlier_ones_in_use
    Dir.mktmpdir("cuttle") do |directory|
      before = TlsFiles.own_identity(directory)
      secured(query: before.query) do |server|
        [-> { File.write(before.key_path, TlsFiles.stranger.key.private_to_pem) },
         -> { File.write(before.cert_path, before.certificate.to_pem[0, 300]) },
         -> { File.unlink(before.cert_path) }].each do |harm|
          TlsFiles.put(before)
          look_twice(server)
          harm.call
          _, err = capture_io { 2.times { look_twice(server) } }
          assert_match(/\Acuttle: can't listen on .*; the earlier certificates stay in use\n\z/, err)
          assert_equal before.certificate.serial, serial(server)
        end
      end
    end
  end

  def test_errors_at_the_start_name_what_is_wrong
    Dir.mktmpdir("cuttle") do |directory|
      file = "#{directory}/file"
      identity = TlsFiles.identity
      File.write(file, "nothing")
      locked = "#{directory}/locked"
      File.write(locked, identity.key.private_to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret"))
      { "cert=/no/such&key=#{file}" => "/no/such: there is no such file",
        "cert=#{directory}" => "#{directory}: it is a directory",
        "cert=#{file}&key=#{identity.key_path}" => "#{file}: no start line",
        "cert=#{identity.cert_path}&key=#{file}" => file,
        "cert=#{identity.cert_path}&key=#{locked}" => locked,
        "cert=#{identity.cert_path}&key=#{TlsFiles.stranger.key_path}" =>
          "#{TlsFiles.stranger.key_path}: key values mismatch",
        "#{identity.query}&ca=#{file}&verify_mode=peer" => file,
        "#{identity.query}&ssl_cipher_filter=NONSENSE" => "ssl_cipher_filter: no cipher match",
        "#{identity.query}&ssl_ciphersuites=NONSENSE" => "ssl_ciphersuites" }.each do |query, reason|
        error = assert_raises(Cuttle::Error, query) { secured(query: query) { flunk query } }
        assert_operator error.message, :start_with?, "can't listen on ssl://127.0.0.1:0: #{reason}"
      end
    end
  end

  private

  # What a process does that looks for changed files every few seconds.
  def look_twice(server)
    now = Cuttle.now
    [now, now + Cuttle::Listeners::Tls::SETTLED].each { |time| server.refresh(time) }
  end

  # What reads the files of an identity, and how often it has.
  def counting(identity)
    library = Class.new(StandardError) do
      const_set(:Error, self)
      attr_reader :loads

      def load(**) = @loads = @loads.to_i + 1
    end
    tls = Cuttle::Listeners::Tls.new("ssl://", cert: [identity.cert_path], key: [identity.key_path])
    native = tls.prepare(library)
    [tls, -> { native.loads }]
  end

  def clients(mode) = "#{TlsFiles.identity.query}&verify_mode=#{mode}&ca=#{TlsFiles.authority.cert_path}"

  def shown(identity) = { cert: identity.certificate, key: identity.key }

  # A session that the server gave. With TLS 1.3 it comes after the handshake.
  def session_of(server, **options)
    client = connect(server, **options)
    client.ask(GET)
    client.socket.ssl.session
  end

  def session_resumed(server, client)
    again = connect(server, session: client.socket.ssl.session)
    again.ask(GET)
    again.socket.ssl
  end
end

# frozen_string_literal: true

require_relative "tls_case"
require "open3"

# The server as a program: other people's clients, workers, signals, restarts, and the message if TLS is missing.
class TestTlsPrograms < TlsCase
  APP = "examples/hello.ru"

  # The grace, by default 5 s, would be part of each stop, because most clients stay connected.
  def serving_process(*args, **options, &block) = super(*args, "--drain-grace", "0.1", **options, &block)

  def test_curl
    serves(client: "curl") do |server|
      command = ["curl", "--silent", "--show-error", "--cacert", TlsFiles.authority.cert_path, "--http1.1",
                 "--resolve", "localhost:#{server.port}:127.0.0.1", "https://localhost:#{server.port}/"]
      out, status = Open3.capture2({ "LD_PRELOAD" => nil }, *command) # a sanitizer is for our process, and hangs curl
      assert_predicate status, :success?
      refute_empty out
    end
  end

  def test_s_client
    serves(client: "openssl") do |server|
      %w[-tls1_2 -tls1_3].each do |version|
        out, = Open3.capture2e("openssl", "s_client", "-connect", "127.0.0.1:#{server.port}", version, "-brief",
                               "-verify_return_error", "-CAfile", TlsFiles.authority.cert_path, "-ign_eof",
                               stdin_data: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert_match(%r{HTTP/1\.1 200 OK}, out)
        assert_match(/Verification: OK/, out)
      end
    end
  end

  # A client that asks for short records (RFC 6066, 4) and reads late gets every octet once.
  def test_short_records_for_a_late_reader
    skip "openssl is not installed" unless system("openssl", "version", out: File::NULL)

    with_app("BODY = Random.new(1).bytes(3_000_000)\nrun ->(_) { [200, {}, [BODY]] }") do |app|
      serving_process(app, "-t", "2:2", "-b", TlsFiles.uri, forked: true) do |server|
        %w[-tls1_2 -tls1_3].each do |version|
          command = ["openssl", "s_client", "-connect", "127.0.0.1:#{server.port}", version, "-maxfraglen", "512",
                     "-quiet", "-ign_eof"]
          IO.popen([*command, { err: File::NULL }], "r+b") do |client|
            client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert client.wait_readable(30) # the response fills pipe and sockets before anything of it is read
            await_full(server)
            _, body = client.read.split("\r\n\r\n", 2)
            assert_equal Random.new(1).bytes(3_000_000), body
          end
        end
      end
    end
  end

  def test_h2load
    serves(client: "h2load") do |server|
      out, status = Open3.capture2e("h2load", "--h1", "-n", "500", "-c", "10", "https://127.0.0.1:#{server.port}/")
      assert_predicate status, :success?
      assert_match(/500 succeeded, 0 failed/, out)
    end
  end

  # A ticket of one worker is good for the others, for their keys were made before the fork.
  def test_workers_share_sessions
    with_app("run ->(_) { [200, {}, [Process.pid.to_s]] }") do |app|
      serving_process(app, "-w", "2", "-b", TlsFiles.uri, forked: true) do |process|
        first = connect(process)
        pid = first.ask(GET).body
        session = first.socket.ssl.session
        eventually("an answer of the other worker") do
          client = connect(process, session: session)
          other = client.ask(GET).body
          assert_predicate client.socket.ssl, :session_reused?
          session = client.socket.ssl.session
          other != pid
        end
      end
    end
  end

  # HUP stops no server that has certificates to read again.
  def test_hup_reads_the_certificates_again
    [["-w", "0"], ["-w", "2"]].each do |workers|
      Dir.mktmpdir("cuttle") do |directory|
        before = TlsFiles.own_identity(directory)
        serving_process(APP, *workers, "-b", TlsFiles.uri(before.query), forked: true) do |process|
          assert_equal before.certificate.serial, serial(process)
          after = TlsFiles.own_identity(directory)
          Process.kill("HUP", process.pid)
          eventually("the new certificate") { serial(process) == after.certificate.serial }
          assert_predicate process, :running?
          assert_empty process.err
        end
      end
    end
  end

  def test_changed_files_are_noticed
    Dir.mktmpdir("cuttle") do |directory|
      before = TlsFiles.uri(TlsFiles.own_identity(directory).query)
      serving_process(APP, "-b", before, forked: true) do |process|
        after = TlsFiles.own_identity(directory)
        eventually("the new certificate") { serial(process) == after.certificate.serial }
      end
    end
  end

  # The program that takes the listener over makes what secures it by the URI; a phased restart keeps it.
  def test_restarts
    [["-w", "0", "USR2"], ["-w", "1", "USR2"], ["-w", "1", "USR1"]].each do |*workers, signal|
      serving_process(APP, *workers, "-b", TlsFiles.uri, forked: signal == "USR1") do |process|
        before = workers.last == "0" ? nil : process.workers
        kept = connect(process)
        assert_equal 200, kept.ask(GET).status
        Process.kill(signal, process.pid)
        if before
          eventually("other workers") { process.workers.any? && !process.workers.intersect?(before) }
        else
          eventually("a second start") { process.out.scan("Ctrl-C stops").length == 2 }
        end
        assert_equal 200, ask(process).status
      end
    end
  end

  def test_a_process_without_descriptors_goes_on
    with_app("Process.setrlimit(:NOFILE, 40)\nrun ->(_) { [200, {}, ['hello']] }") do |app|
      serving_process(app, "-b", TlsFiles.uri) do |process|
        held = Array.new(60) { WireClient.new(process.port) }
        eventually("a complaint") { process.err.include?("no connection can be accepted") }
        held.each(&:close)
        eventually("an answer") { ask(process).status == 200 }
      end
    end
  end

  # Errors are reported before anything is served.
  def test_what_is_missing
    assert_refused(2, "name a certificate (?cert=FILE&key=FILE), or use --dev-tls", "-b", "ssl://127.0.0.1:0")
    assert_refused(2, "TLS needs --core native", "-b", TlsFiles.uri, "--core", "pure")
    assert_refused(1, "/no/such.pem: there is no such file", "-b", "ssl://127.0.0.1:0?cert=/no/such.pem")
    assert_refused(2, "a control listener does not speak TLS", "--control-url", TlsFiles.uri)
    out = StringIO.new
    assert_equal 1, check(APP, "-b", "ssl://127.0.0.1:0?cert=/no/such.pem", out: out)
    assert_includes out.string.lines.first, "/no/such.pem: there is no such file"
  end

  # The server finds the files in its own directory, and so does the check.
  def test_a_check_of_certificates_in_the_directory_to_serve_in
    Dir.mktmpdir("cuttle") do |directory|
      identity = TlsFiles.identity
      FileUtils.cp(identity.cert_path, "#{directory}/c.pem")
      FileUtils.cp(identity.key_path, "#{directory}/k.pem")
      uri = "ssl://127.0.0.1:0?cert=c.pem&key=k.pem"
      assert_equal [1, 0], [check("-b", uri), check("-b", uri, "--dir", directory)]
      Dir.chdir(directory) { assert_equal [0, 1], [check("-b", uri), check("-b", uri, "--dir", Serving::ROOT)] }
    end
  end

  # A library that isn't there is as one that was not built.
  def test_a_build_without_openssl
    Dir.mktmpdir("cuttle") do |directory|
      _, status = Open3.capture2e({ "CUTTLE_TLS" => "no" }, RbConfig.ruby,
                                  "#{Serving::ROOT}/ext/cuttle_tls/extconf.rb", chdir: directory)
      assert_predicate status, :success?
      _, status = Open3.capture2e("make", "-C", directory)
      assert_predicate status, :success?
      assert_empty Dir["#{directory}/*.so"]
    end
    script = "require 'cuttle'; def (Cuttle::Cores.fetch('native')).tls = nil; " \
             "exit Cuttle::CLI.new.run(ARGV)"
    out, status = Open3.capture2e(*ServingProcess.ruby, "-e", script, "serve", APP, "-b", TlsFiles.uri,
                                  chdir: Serving::ROOT)
    assert_equal 1, status.exitstatus, out
    assert_match(/\Acuttle: can't listen on ssl:.*built without OpenSSL; install its headers \(libssl-dev.*\n\z/, out)
  end

  def test_dev_tls
    Dir.mktmpdir("cuttle") do |directory|
      state = { "XDG_STATE_HOME" => directory }
      files = "#{directory}/cuttle/dev-tls"
      serials = Array.new(2) do
        serving_process(APP, "--dev-tls", "-b", "ssl://127.0.0.1:0", env: state) do |process|
          assert_includes process.out, "#{files}/ca.pem"
          client = connect(process, ca: "#{files}/ca.pem")
          assert_equal 200, client.ask(GET.sub("\r\n\r\n", "\r\nConnection: close\r\n\r\n")).status
          client.socket.ssl.peer_cert.serial
        end
      end
      assert_equal 1, serials.uniq.length
      assert_equal ["100600"], Dir["#{files}/*"].map { |path| File.stat(path).mode.to_s(8) }.uniq
      assert_equal "40700", File.stat(files).mode.to_s(8)
    end
  end

  private

  # The exit status of `cuttle check`.
  def check(*arguments, out: StringIO.new) = Cuttle::CLI.new(out: out, err: out).run(["check", *arguments])

  # Until the socket of the server's one connection takes no more.
  def await_full(server)
    before = nil
    eventually("a full socket") do
      own = File.foreach("/proc/net/tcp").grep(/^ *\d+: \h+:#{format("%04X", server.port)} /)
      queued = own.map { |line| line.split[4].split(":").first.hex }.max
      full = queued == before && queued.to_i.positive?
      before = queued
      full
    end
  end

  def serves(client:, &block)
    skip "no #{client}" unless system("which", client, out: File::NULL)
    serving_process(APP, "-b", TlsFiles.uri, forked: true, &block)
  end

  def with_app(text)
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", text)
      yield "#{directory}/config.ru"
    end
  end

  def assert_refused(status, reason, *flags)
    serving_process(APP, *flags, forked: true) do |process|
      refute_predicate process, :running?
      assert_equal [status, ""], [process.status.exitstatus, process.out]
      assert_includes process.err.lines.first, reason
    end
  end
end

# frozen_string_literal: true

require_relative "real"
require "openssl"

# Cuttle behind HAProxy and nginx as docs/deployment.md has them: every way in which they name their client.
class TestBehindProxies < Minitest::Test
  include Serving
  include TemporaryDirectory

  CLIENT = "127.0.0.2" # another address of this machine: the proxies connect from 127.0.0.1
  SEEN = %w[REMOTE_ADDR rack.url_scheme SERVER_PORT HTTP_X_FORWARDED_FOR].freeze
  # Sends early hints if it may, as Rails does. nginx before 1.29 takes them for the response.
  APP = lambda do |env|
    2.times { env["rack.early_hints"]&.call("link" => "</a.css>; rel=preload") }
    [200, {}, [env.values_at(*SEEN).join(" ")]]
  end
  PACKAGES = { "haproxy" => "haproxy", "nginx" => "nginx-light" }.freeze
  # A client's own fields, which no server may trust.
  FORGED = "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n"

  # Name => HAProxy's configuration for its connection to the server, and for its connections to the clients.
  TCP = { "v1" => ["send-proxy check inter 50ms", ""], "v2" => ["send-proxy-v2 check inter 50ms", ""],
          "tls" => ["send-proxy-v2-ssl-cn", "ssl crt CERTIFICATE"] }.freeze

  def setup
    @pids = []
  end

  def teardown
    @pids.each { |pid| Process.kill("KILL", pid) && Process.wait(pid) }
  end

  def test_haproxy_with_the_proxy_protocol
    each_server(proxy_protocol: true) do |server|
      ports = start_haproxy(TCP.to_h { |name, sides| [name, tcp(*sides, server.port)] })
      %w[v1 v2].each { |name| assert_equal "#{CLIENT} http 80 ", ask(ports[name], FORGED), name }
      assert_equal "#{CLIENT} https 443 ", ask(ports["tls"], FORGED, tls: true)
      eventually("health checks") { server.stats.fetch(:accepted) > 6 }
      assert_equal 0, server.stats.fetch(:unproxied)
    end
  end

  def test_haproxy_with_fields
    each_server do |server|
      http = <<~TEXT
        mode http
        option forwardfor
        http-request set-header X-Forwarded-Proto https
        server s 127.0.0.1:#{server.port}
      TEXT
      port = start_haproxy("http" => http)["http"]
      assert_equal "#{CLIENT} https 443 6.6.6.6, #{CLIENT}", ask(port, FORGED)
    end
  end

  # A balancer that only passes octets on, before a proxy that speaks HTTP.
  def test_haproxy_before_nginx
    each_server do |server|
      nginx = start_nginx("127.0.0.1:#{server.port}", "proxy_protocol", "$proxy_protocol_addr")
      assert_equal "#{CLIENT} http 80 #{CLIENT}", ask(start_haproxy("v2" => tcp("send-proxy-v2", "", nginx))["v2"], "")
    end
  end

  # As many do it: nginx adds its client's address, and sets the scheme.
  def test_nginx
    each_server do |server|
      port = start_nginx("127.0.0.1:#{server.port}")
      2.times { assert_equal "#{CLIENT} http 80 6.6.6.6, #{CLIENT}", ask(port, FORGED) }
      assert_equal "127.0.0.1 http 80 127.0.0.1", ask(port, "", from: "127.0.0.1")
    end
  end

  def test_nginx_on_a_unix_socket
    each_server(binds: ["unix://#{@directory}/cuttle"], trust: ["unix"]) do
      assert_equal "#{CLIENT} http 80 6.6.6.6, #{CLIENT}", ask(start_nginx("unix:#{@directory}/cuttle"), FORGED)
    end
  end

  private

  def each_server(**options, &block)
    HttpCase::WAYS.each do |core, engine|
      serving(APP, core: core, engine: engine, drain_grace: "none", trust: ["127.0.0.1"], **options, &block)
    end
  end

  # What the app says to a request with those lines.
  def ask(port, lines, from: CLIENT, tls: false)
    socket = Socket.tcp("127.0.0.1", port, from)
    socket = OpenSSL::SSL::SSLSocket.new(socket).tap(&:connect) if tls
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n#{lines}\r\n")
    Timeout.timeout(PATIENCE) { socket.read[/\r\n\r\n(.*)\z/m, 1] }
  ensure
    socket&.close
  end

  def tcp(server, bind, port) = { bind: bind, lines: "mode tcp\nserver s 127.0.0.1:#{port} #{server}\n" }

  # Starts HAProxy with a listener for each of +sections+. Returns their ports.
  def start_haproxy(sections)
    ports = sections.transform_values { Cuttle::Lab::Servers::Ports.free }
    text = sections.map do |name, section|
      section = { bind: "", lines: section } if section.is_a?(String)
      bind = section[:bind].sub("CERTIFICATE") { certificate }
      "listen #{name}\n  bind 127.0.0.1:#{ports[name]} #{bind}\n#{section[:lines].gsub(/^/, "  ")}"
    end
    times = "defaults\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n"
    run_program("haproxy", times + text.join, ports.values) { |file| ["-db", "-q", "-f", file] }
    ports
  end

  # Starts nginx before a server. Returns its port.
  def start_nginx(upstream, listen = "", client = "$remote_addr")
    port = Cuttle::Lab::Servers::Ports.free
    forwarded = listen.empty? ? "$proxy_add_x_forwarded_for" : client
    text = <<~TEXT
      master_process off;
      pid #{@directory}/nginx.pid;
      error_log #{@directory}/nginx.log;
      events {}
      http {
        access_log off;
        #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{@directory}/#{name};" }.join}
        upstream app { server #{upstream}; keepalive 4; }
        server {
          listen 127.0.0.1:#{port} #{listen};
          location / {
            proxy_pass http://app;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For #{forwarded};
            proxy_set_header X-Forwarded-Proto $scheme;
          }
        }
      }
    TEXT
    run_program("nginx", text, [port]) { |file| ["-p", @directory, "-c", file, "-g", "daemon off;"] }
    port
  end

  # Runs a program with a configuration file until the test ends. Returns once it listens.
  def run_program(name, text, ports)
    program = Cuttle::Lab::Machine.program(name) or skip "#{name} is not installed (Debian package #{PACKAGES[name]})"
    file = "#{@directory}/#{name}.#{@pids.size}"
    File.write(file, text)
    @pids << spawn(program, *yield(file), %i[out err] => "#{file}.out")
    eventually("#{name}'s listeners") { ports.all? { |port| listening?(port) } }
  end

  # By the kernel: to connect would be a request of HAProxy's to the server.
  def listening?(port)
    File.foreach("/proc/net/tcp").any? { |line| line.split.values_at(1, 3) == [format("0100007F:%04X", port), "0A"] }
  end

  # A file with a key and its certificate.
  def certificate
    key = OpenSSL::PKey::RSA.new(2048)
    made = OpenSSL::X509::Certificate.new
    made.version = 2
    made.serial = 1
    made.subject = made.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
    made.public_key = key.public_key
    made.not_before = Time.now - 60
    made.not_after = Time.now + 3600
    made.sign(key, OpenSSL::Digest.new("SHA256"))
    "#{@directory}/certificate.pem".tap { |path| File.write(path, made.to_pem + key.to_pem) }
  end
end

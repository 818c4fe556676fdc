# frozen_string_literal: true

require "test_helper"
require "timeout"
require_relative "../support/proxy_headers"

# Compares the cores on the statements of proxies: random PROXY headers, right and wrong, and random fields must give
# the same env or the same end. CUTTLE_SEED repeats a run, CUTTLE_ROUNDS makes it longer.
class TestProxies < Minitest::Test
  ROUNDS = Integer(ENV.fetch("CUTTLE_ROUNDS", 400))
  SEED = Integer(ENV.fetch("CUTTLE_SEED", Random.new_seed % (2**32)))
  ENGINES = %w[hybrid threads].freeze
  TRUST = %w[127.0.0.1 10.0.0.0/9 2001:db8::/29 ::ffff:192.0.2.128/121].freeze
  SHOWN = %w[REMOTE_ADDR rack.url_scheme SERVER_PORT].freeze
  ADDRESSES = %w[127.0.0.1 10.0.0.1 10.127.255.255 10.128.0.0 192.0.2.127 192.0.2.128 255.255.255.255 0.0.0.0 1.2.3.04
                 1.2.3 1.2.3.256 ::1 :: 2001:db8::1 2001:db7::1 2001:dbf:ffff:: 2001:dc0:: ::ffff:10.0.0.1
                 ::ffff:a00:1 ::10.0.0.1 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 1::4:5:6:7:8 1:0:0:4::7:8
                 1:0:3:0:0:6:0:0 1:2:3:4:5:6:1.2.3.4 1:2:3:4:5:6:7:1.2.3.4 1::2::3 12345::1 :1:2:3:4:5:6:7 1:2:3
                 fe80::1%lo ABCD::EF01 ::ffff:0:1 1.2.3.4:: x unknown _hidden 1.2.3.4.5].freeze
  GLUE = ["", " ", "\t", ",", ", ", " ,", ":", ":80", "[", "]", "\"", ".", ":x", ":0080"].freeze
  NAMES = %w[X-Forwarded-For X-Forwarded-For x-forwarded-for X-Forwarded-Proto X-Forwarded-Proto X_Forwarded_For
             X-Forwarded Forwarded Client-IP X-Real-Ip Client_IP X-Forwarded-Host X-Request-Id].freeze
  SCHEMES = %w[http https ws wss HTTPS Https ftp httpss x].freeze
  PIECES = ["PROXY ", "TCP4 ", "TCP6 ", "UNKNOWN", " ", "\r", "\n", "\r\n", "1.2.3.4 ", "::1 ", "0", "65535", "65536",
            "7 ", "\0", "\x20", "\x21", "\x11", ProxyHeaders::SIGNATURE].map(&:b).freeze

  def self.servers
    @servers ||= ENGINES.product(Cuttle::Cores.names).to_h do |engine, core|
      app = lambda do |env|
        [200, {}, [env.select { |key, _| SHOWN.include?(key) || key.match?(/\AHTTP_[XFC]/) }.sort.inspect]]
      end
      server = Cuttle::Server.new(app, core: core, engine: engine, drain_grace: nil, trust: TRUST,
                                       proxy_protocol: true, underscore_headers: true).start
      Minitest.after_run { server.stop }
      [[engine, core], server]
    end
  end

  def setup
    @random = Random.new(SEED)
    @errors, $stderr = $stderr, StringIO.new # which is told of connections without a header
  end

  def teardown
    $stderr = @errors
  end

  ENGINES.each do |engine|
    define_method(:"test_the_same_clients_#{engine}") do
      found = Array.new(ROUNDS) { difference(engine, header + request) }.compact
      assert found.empty?, "seed #{SEED}: #{found.size} differences:\n#{found.first(8).join("\n")}"
    end
  end

  private

  def pick(list) = list[@random.rand(list.size)]
  def one_in(number) = @random.rand(number).zero?

  def header
    case @random.rand(8)
    when 0..1
      "PROXY #{pick(%w[TCP4 TCP6])} #{pick(ADDRESSES)} #{pick(ADDRESSES)} #{pick(%w[1 0 65535 99999])} 2\r\n"
    when 2 then ProxyHeaders.v1(pick(ADDRESSES))
    when 3 then ProxyHeaders.block(pick([0x20, 0x21]), pick([0x11, 0x12, 0x21, 0, 0x31]), octets([12, 36, 216, 12]))
    when 4 then broken(ProxyHeaders.v2("10.0.0.#{@random.rand(256)}", ProxyHeaders.tls(@random.rand(4))))
    when 5 then Array.new(@random.rand(8)) { pick(PIECES) }.join
    when 6 then broken(ProxyHeaders.v1("10.0.0.1"))
    else ProxyHeaders.local
    end.b
  end

  def octets(sizes) = @random.bytes(pick(sizes)) + (one_in(2) ? ProxyHeaders.tls : "")

  # The header, or one with an octet changed or lost.
  def broken(header)
    at = @random.rand(header.bytesize)
    return header if one_in(3)

    header[0, at] + (one_in(2) ? pick(PIECES) : "") + header[at + 1..]
  end

  def request
    lines = Array.new(@random.rand(5)) { "#{name = pick(NAMES)}: #{name.match?(/proto/i) ? schemes : addresses}\r\n" }
    "GET / HTTP/1.1\r\nHost: a#{":8" if one_in(3)}\r\nConnection: close\r\n#{lines.join}\r\n".b
  end

  def schemes = Array.new(@random.rand(3)) { pick(SCHEMES) + pick(GLUE) }.join(pick([",", ", ", " "]))

  def addresses
    elements = Array.new(@random.rand(5)) do
      (one_in(4) ? pick(GLUE) : "") + pick(ADDRESSES) + (one_in(3) ? pick(GLUE) : "")
    end
    elements.join(one_in(8) ? pick(GLUE) : ", ")
  end

  # The differences between the cores, as text; nil if there are none.
  def difference(engine, octets)
    results = Cuttle::Cores.names.to_h { |core| [core, talk(self.class.servers.fetch([engine, core]).port, octets)] }
    return if results.values.uniq.size == 1

    "#{engine}: #{octets.inspect}\n#{results.map { |core, result| "  #{core.ljust(8)}#{result.inspect}" }.join("\n")}"
  end

  # The octets that come back; "" if the connection ends without an answer, in any way.
  def talk(port, octets)
    TCPSocket.open("127.0.0.1", port) do |socket|
      socket.write(octets)
      socket.close_write
      Timeout.timeout(Eventually::PATIENCE) { socket.read }.sub(/^date: [^\r]*/i, "date")
    end
  rescue Errno::EPIPE, Errno::ECONNRESET, Errno::ENOTCONN
    ""
  end
end

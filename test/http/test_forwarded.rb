# frozen_string_literal: true

require "test_helper"
require "rack"

# --trust: what a proxy says of its client is believed if the proxy is trusted, and never reaches the app otherwise.
class TestForwarded < HttpCase
  TRUST = %w[127.0.0.1 10.0.0.0/8 2001:db8::/33].freeze
  STRANGER = "127.0.0.2" # another address of this machine, which is not trusted

  # Every field in which a proxy may name its client.
  NAMES = %w[X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Forwarded-Port X-Forwarded-Scheme X-Forwarded-Ssl
             X-Forwarded-Prefix X-Forwarded X-Forwarded- Forwarded X-Real-IP Client-IP].freeze
  # Others that are not unlike them.
  OTHERS = %w[X-Forwardeds Forwarded-For X-Forwarder Client-Ips X-Real X-Request-Id Via].freeze

  # Lines of X-Forwarded-For, and the client that they name.
  CLIENTS = {
    ["192.0.2.1"] => "192.0.2.1",
    ["6.6.6.6, 192.0.2.1"] => "192.0.2.1",
    ["6.6.6.6, 192.0.2.1, 10.1.2.3, 10.255.0.1"] => "192.0.2.1",
    ["6.6.6.6", "192.0.2.1", "10.1.2.3"] => "192.0.2.1",
    ["10.0.0.1, 10.0.0.2"] => "10.0.0.1",
    ["192.0.2.1\t ,, ,10.0.0.2 ,"] => "192.0.2.1",
    ["192.0.2.1:5678"] => "192.0.2.1",
    ["2001:DB8:8000::1"] => "2001:db8:8000::1",
    ["6.6.6.6, 2001:db8:8000:0:0:0:0:2, 2001:db8:7fff::1"] => "2001:db8:8000::2",
    ["[2001:db8:ffff::1]:80"] => "2001:db8:ffff::1", ["[2001:db8:ffff::1]"] => "2001:db8:ffff::1",
    ["::ffff:192.0.2.1"] => "192.0.2.1", ["192.0.2.1, ::ffff:10.0.0.1"] => "192.0.2.1", ["::"] => "::",
    # A value that is not an address ends the search.
    ["192.0.2.1, unknown"] => "127.0.0.1", ["192.0.2.1, unknown, 10.0.0.1"] => "10.0.0.1",
    ["unknown, 192.0.2.1"] => "192.0.2.1", ["_hidden"] => "127.0.0.1", [""] => "127.0.0.1", [","] => "127.0.0.1",
    ["192.0.2.01"] => "127.0.0.1", ["192.0.2"] => "127.0.0.1", ["192.0.2.256"] => "127.0.0.1",
    ["192.0.2.1:"] => "127.0.0.1", ["192.0.2.1:x"] => "127.0.0.1", ["[192.0.2.1]:80"] => "127.0.0.1",
    ["[2001:db8:ffff::1"] => "127.0.0.1", ["[2001:db8:ffff::1]x"] => "127.0.0.1", ["2001:db8::1::2"] => "127.0.0.1",
    ["fe80::1%eth0"] => "127.0.0.1", ["\"192.0.2.1\""] => "127.0.0.1", ["192.0.2.1 10.0.0.1"] => "127.0.0.1",
    ["1" * 15_000] => "127.0.0.1"
  }.freeze

  SCHEMES = {
    ["https"] => "https", ["HTTPS"] => "https", ["wss"] => "https", ["http"] => "http", ["ws"] => "http",
    ["http, https"] => "https", ["https, http"] => "http", %w[https http] => "http", %w[http https] => "https",
    ["https, "] => "https", ["ftp"] => "http", ["https;x"] => "http", ["httpsx"] => "http", [""] => "http",
    ["https, ftp"] => "https", ["on"] => "http", [] => "http"
  }.freeze

  def self.server_options = { trust: TRUST, underscore_headers: true }

  def test_the_client_is_the_last_address_that_is_not_trusted
    CLIENTS.each do |values, address|
      seen, = assert_served(request("GET / HTTP/1.1", *values.map { |value| "X-Forwarded-For: #{value}" }))
      assert_equal address, seen["REMOTE_ADDR"], values.inspect[0, 200]
    end
  end

  def test_the_scheme_is_the_last_that_a_proxy_names
    SCHEMES.each do |values, scheme|
      seen, = assert_served(request("GET / HTTP/1.1", *values.map { |value| "x-forwarded-proto: #{value}" }))
      assert_equal [scheme, scheme == "https" ? "443" : "80"], [seen["rack.url_scheme"], seen["SERVER_PORT"]], values
      assert_equal scheme, Rack::Request.new(seen.env).scheme if [%w[http], %w[https]].include?(values)
    end
  end

  def test_a_port_in_the_authority_is_the_port
    seen, = assert_served("GET / HTTP/1.1\r\nHost: a:81\r\nX-Forwarded-Proto: https\r\n\r\n")
    assert_equal %w[https 81], [seen["rack.url_scheme"], seen["SERVER_PORT"]]
    seen, = assert_served("GET / HTTP/1.0\r\nX-Forwarded-Proto: https\r\n\r\n")
    assert_equal ["https", port.to_s], [seen["rack.url_scheme"], seen["SERVER_PORT"]]
  end

  # One connection of a proxy carries requests of many clients.
  def test_each_request_has_a_client_of_its_own
    found = open_client do |client|
      %w[192.0.2.1 192.0.2.2 - 192.0.2.1].map do |address|
        lines = ["X-Forwarded-For: #{address}", "X-Forwarded-Proto: https"] unless address == "-"
        client.ask(request("GET / HTTP/1.1", *lines))
        recorder.seen.last.env.values_at("REMOTE_ADDR", "rack.url_scheme", "SERVER_PORT")
      end
    end
    assert_equal [%w[192.0.2.1 https 443], %w[192.0.2.2 https 443], %w[127.0.0.1 http 80], %w[192.0.2.1 https 443]],
                 found
  end

  def test_fields_of_a_trusted_proxy_reach_the_app_as_they_came
    lines = [*NAMES, *OTHERS].map { |name| "#{name}: 6.6.6.6" }
    seen, = assert_served(request("GET / HTTP/1.1", *lines, "X-Forwarded-For: 192.0.2.1"))
    assert_equal "6.6.6.6, 192.0.2.1", seen["HTTP_X_FORWARDED_FOR"]
    [*NAMES.drop(1), *OTHERS].each { |name| assert_equal "6.6.6.6", seen[key(name)], name }
  end

  def test_fields_of_a_stranger_reach_nobody
    [NAMES, NAMES.map(&:downcase), NAMES.map(&:upcase), NAMES.map { |name| name.tr("-", "_") }].each do |names|
      seen = ask_as_stranger(*names.map { |name| "#{name}: https" }, *OTHERS.map { |name| "#{name}: x" })
      assert_equal [STRANGER, "http", "80"], seen.env.values_at("REMOTE_ADDR", "rack.url_scheme", "SERVER_PORT")
      assert_empty seen.env.keys & NAMES.map { |name| key(name) }
      OTHERS.each { |name| assert_equal "x", seen[key(name)], name }
    end
  end

  # Rack and Rails read these as well as the server.
  def test_what_an_app_finds_out_by_itself_is_what_the_server_found
    lines = ["X-Forwarded-For: 6.6.6.6, 192.0.2.1", "X-Forwarded-Proto: https"]
    found = Rack::Request.new(assert_served(request("GET / HTTP/1.1", *lines)).first.env)
    assert_equal ["192.0.2.1", "https", true], [found.ip, found.scheme, found.ssl?]
    found = Rack::Request.new(ask_as_stranger(*lines, "Client-IP: 6.6.6.6", "X-Forwarded-Ssl: on").env)
    assert_equal [STRANGER, "http", false], [found.ip, found.scheme, found.ssl?]
  end

  # A name with an underscore may have passed a proxy that sets the one with dashes only for some clients.
  def test_names_with_an_underscore_are_nobodys
    seen, = assert_served(request("GET / HTTP/1.1", "X_Forwarded_For: 6.6.6.6", "X-Forwarded_Proto: https", "A_B: c"))
    assert_equal ["127.0.0.1", "http", "c"], seen.env.values_at("REMOTE_ADDR", "rack.url_scheme", "HTTP_A_B")
    refute seen.env.key?("HTTP_X_FORWARDED_FOR")
    refute seen.env.key?("HTTP_X_FORWARDED_PROTO")
  end

  private

  def key(name) = "HTTP_#{name.upcase.tr("-", "_")}"

  def ask_as_stranger(*lines)
    open_client(from: STRANGER) { |client| client.ask(request("GET / HTTP/1.1", *lines)) }
    recorder.seen.last
  end
end

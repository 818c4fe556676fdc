# frozen_string_literal: true

require_relative "../../support/proxy_headers"

module EngineContract
  # --trust and --proxy-protocol: who the client is, on connections that a proxy opened.
  module Proxies
    include ProxyHeaders

    FLAGS = %w[--trust 127.0.0.1 --trust 10.0.0.0/8 --proxy-protocol].freeze
    TOLD = /\A(?:cuttle: connections of trusted proxies began without a PROXY header .*\n)+\z/

    def test_a_proxys_client_is_the_client
      with_server(*FLAGS) do
        assert_equal '["192.0.2.1", "http"]', connect.ask(v1("192.0.2.1") + get("/client")).body
        assert_equal '["2001:db8::1", "https"]', connect.dribble(v2("2001:db8::1", tls) + get("/client")).response.body
        kept = connect.write(v1("10.0.0.1"))
        %w[192.0.2.7 192.0.2.8].each do |address|
          lines = ["X-Forwarded-For: 6.6.6.6, #{address}", "X-Forwarded-Proto: https"]
          assert_equal %(["#{address}", "https"]), kept.ask(get("/client", *lines)).body
        end
      end
    end

    # The other listener is for clients, which connect from the same address.
    def test_one_listener_of_two_is_for_proxies
      listener = %w[-b tcp://127.0.0.1:0?proxy_protocol=true]
      [["--trust", "127.0.0.1", *listener], [*FLAGS, "-b", "tcp://127.0.0.1:0?proxy_protocol=false"]].each do |flags|
        with_server(*flags, said: TOLD) do |server|
          ports = server.uris.map { |uri| uri[/\d+\z/].to_i }
          proxied, plain = flags.include?("--proxy-protocol") ? ports : ports.reverse
          assert_equal '["127.0.0.1", "http"]', client_of(plain, get("/client"))
          assert_equal '["192.0.2.1", "http"]', client_of(proxied, v1("192.0.2.1") + get("/client"))
          stranger = connect_to(proxied).write(get("/"))
          assert_includes %i[closed reset], stranger.ending
        end
      end
    end

    # Also while every thread is in the app.
    def test_connections_without_a_header_end_and_harm_nobody
      with_server(*FLAGS, said: TOLD) do
        holder = hold(connect.write(v1("192.0.2.1")))
        octets = ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PROXY TCP4 x\r\n", block(0x21, 0x11, "", 60_000), "\0"]
        strangers = octets.map { |each| connect.write(each) }
        open_gates
        assert_equal "held", holder.response.body
        holder.close
        strangers.each { |client| assert_includes %i[closed reset], client.ending }
        assert_equal "hello", connect.ask(v1("192.0.2.1") + get("/")).body
      end
    end

    private

    def connect_to(port) = WireClient.new(port, deadline: DEADLINE).tap { |client| @clients << client }

    # The app's view of a client that sends this.
    def client_of(port, octets)
      WireClient.open(port, deadline: DEADLINE) { |client| client.ask(octets).body }
    end
  end
end

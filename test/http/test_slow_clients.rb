# frozen_string_literal: true

require "test_helper"

# Clients that send an octet now and then, so that each wait is short and the whole has no end: deadlines are for the
# whole, and a minimum rate for bodies. Cases 114 and 115, for the native and a Ruby parser.
class TestSlowClients < Minitest::Test
  include Serving

  # Seconds between two octets: less than any deadline here.
  PACE = 0.1

  # A client that is never cut off has this long.
  PATIENCE = 12

  Serving::ENGINES.product(%w[native pure]) do |engine, parser|
    # An octet now and then renewed the deadline, under Ruby parsers for heads as well.
    define_method("test_slow_requests_end_at_the_deadline_under_#{engine}_and_#{parser}") do
      serving_slow(engine, parser, request_timeout: 1) { |server| assert_all_cut_off server }
    end

    define_method("test_heads_and_bodies_have_deadlines_of_their_own_under_#{engine}_and_#{parser}") do
      serving_slow(engine, parser, header_timeout: 1, min_rate: 0, body_timeout: 60) do |server|
        assert_cut_off server, [head]
        WireClient.open(server.port, deadline: PATIENCE) do |client|
          client.write(sized[0..-21])
          assert_sent client, sized[-20..], "a body that takes longer than its head may"
          assert_equal 200, client.response.status
        end
      end
      serving_slow(engine, parser, header_timeout: 60, body_timeout: 1) do |server|
        assert_cut_off server, [sized, chunks]
      end
    end
  end

  # Half a kilobyte in a second, after ten seconds of grace, is what the default asks for: so this takes long enough to
  # be run where the two sides of the core are, and no more.
  %w[hybrid threads].each do |engine|
    define_method("test_a_body_below_the_minimum_rate_is_cut_off_under_#{engine}") do
      serving_slow(engine, "native", min_rate: 10_000, body_timeout: 120) do |server|
        seconds = elapsed { assert_cut_off server, [sized, chunks], within: 40 }
        assert_operator seconds, :>, 5, "no grace"
      end
    end

    define_method("test_a_body_above_the_minimum_rate_is_served_under_#{engine}") do
      serving_slow(engine, "native", min_rate: 10, body_timeout: 120) do |server|
        WireClient.open(server.port, deadline: PATIENCE) do |client|
          body = "z" * 280
          client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 280\r\n\r\n")
          body.scan(/../) { |octets| client.write(octets) && sleep(PACE) }
          assert_equal 200, client.response.status
        end
      end
    end
  end

  private

  def serving_slow(engine, parser, **options, &block)
    app = lambda do |env|
      env["rack.input"].read
      [200, { "content-type" => "text/plain" }, ["hello"]]
    end
    threads = %w[hybrid threads].include?(engine) ? { threads: 3 } : {}
    serving(app, engine: engine, parser: parser, shutdown_timeout: 1, **threads, **options, &block)
  end

  def head = "GET / HTTP/1.1\r\nHost: a\r\nX-Long: #{"x" * 10_000}\r\n\r\n"

  def sized = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n#{"z" * 10_000}"

  def chunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{"1\r\nz\r\n" * 5_000}0\r\n\r\n"

  # Each by itself under an engine that serves one connection at a time, so one after the other.
  def assert_all_cut_off(server)
    assert_cut_off server, [head, sized, chunks]
    WireClient.open(server.port, deadline: PATIENCE) do |client|
      assert_equal "hello", client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").body
    end
  end

  # All at once, but for an engine that serves one connection at a time.
  def assert_cut_off(server, requests, within: PATIENCE)
    requests.each_slice(server.settings.engine == "single" ? 1 : requests.size) do |some|
      clients = some.map { WireClient.new(server.port, deadline: within) }
      drip(clients, some, within)
      clients.each { |client| assert_match(%r{\A(HTTP/1\.1 408 .*)?\z}m, client.rest) }
    ensure
      clients&.each(&:close)
    end
  end

  # The head comes at once where there is a body behind it; then an octet each time, until the server ends them all.
  def drip(clients, requests, within)
    rests = clients.zip(requests).to_h do |client, bytes|
      begun = bytes.start_with?("POST") ? bytes.index("\r\n\r\n") + 4 : 20
      client.write(bytes[0, begun])
      [client, bytes[begun..].each_char]
    end
    eventually("the end of #{requests.map { |bytes| bytes[0, 60].inspect }.join(" and ")}", within: within) do
      rests.reject! { |client, _| client.heard?(PACE / rests.size) }
      rests.each { |client, octets| client.write(octets.next) }
      rests.empty?
    end
  end

  def assert_sent(client, octets, message)
    octets.each_char do |octet|
      refute client.heard?(PACE), message
      client.write(octet)
    end
  end
end

# frozen_string_literal: true

require "objspace"
require "open3"
require "test_helper"

# An idle connection of the native core refers to no Ruby object, so that the collector need not visit it, and the texts
# of peers' addresses belong to the source. Peers have addresses of their own here: 127.0.0.0/8 is this machine.
class TestIdleConnections < Minitest::Test
  include Eventually
  include ProxyHeaders

  MANY = 60
  KEPT = 1024 # CUTTLE_PEERS_KEPT

  # Answers with the client's address. /wait waits until #go.
  class Service
    def initialize
      @gate = Queue.new
    end

    def go = @gate << true

    def call(exchange)
      env = exchange.env
      @gate.pop if env["PATH_INFO"] == "/wait"
      env["rack.input"]&.read
      exchange.respond(200, {}, [env["REMOTE_ADDR"]])
    rescue IOError
      nil # it was stuck, and answered
    ensure
      exchange.dispose
    end
  end

  REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  CHUNKED = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"

  EVENTED = %w[hybrid reactor fibers].freeze
  PARSERS = { "native" => nil, "pure" => Cuttle::Http::Parsers::Pure }.freeze

  def setup
    @clients = []
  end

  EVENTED.product(PARSERS.keys).each do |engine, parser|
    define_method(:"test_an_idle_connection_refers_to_nothing_#{engine}_#{parser}") do
      serve(engine, parser: PARSERS.fetch(parser), app_timeout: 60) do
        assert_equal "127.0.0.1", ask(connect) # what a source learns once
        assert_equal "127.0.0.1", ask(@clients.first)
        rested = at_rest
        silent = Array.new(MANY) { |i| connect("127.3.0.#{i + 1}") }
        MANY.times { |i| assert_equal "127.2.0.#{i + 1}", ask(connect("127.2.0.#{i + 1}")) }
        @clients.last(MANY).each { |client| client.write(REQUEST * 2 + CHUNKED) }
        @clients.last(MANY).each { |client| 3.times { client.final_response } }
        assert_equal MANY * 2 + 1, @source.stats.fetch(:connections)
        eventually("no reference but the source's own") { kinds == rested }
        silent.each_with_index { |client, i| assert_equal "127.3.0.#{i + 1}", ask(client) }
        eventually("no reference but the source's own") { kinds == rested }
      end
    end
  end

  # That the tests above would see a reference.
  def test_a_request_under_way_refers_to_what_it_needs
    serve("hybrid", parser: PARSERS.fetch("pure"), app_timeout: 60) do
      client = connect.write(REQUEST.byteslice(0, 10))
      eventually("a parser") { references.grep(PARSERS.fetch("pure")).size == 1 }
      client.write("#{REQUEST.byteslice(10..)}GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").final_response
      eventually("a thread") { references.grep(Thread).size == 1 }
      @service.go
      client.final_response
      eventually("nothing") { references.grep(Thread).empty? && references.grep(PARSERS.fetch("pure")).empty? }
    end
  end

  # Also where it ends otherwise.
  def test_a_connection_that_ends_refers_to_nothing
    serve("hybrid", parser: PARSERS.fetch("pure"), app_timeout: 0.05) do
      2.times { assert_equal "127.0.0.1", ask(connect) } # then the source keeps an env for the usual fields
      rested = at_rest
      connect.write(REQUEST.byteslice(0, 10))
      eventually("a parser") { references.grep(PARSERS.fetch("pure")).size == 1 }
      @clients.pop.reset
      eventually("nothing") { kinds == rested }
      assert_equal 400, connect.write("no request\r\n\r\n").final_response.status
      stuck = connect.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
      assert_equal 503, stuck.final_response.status
      assert_equal 1, references.grep(Thread).size
      @service.go
      eventually("nothing") { kinds == rested }
    end
  end

  %w[threads single].each do |engine|
    PARSERS.each do |name, parser|
      define_method(:"test_an_idle_connection_with_a_thread_#{engine}_#{name}") do
        serve(engine, parser: parser, threads: 4) do
          client = connect("127.4.0.1")
          connection = nil
          eventually("a connection") { connection = connections.first }
          client.write(REQUEST * 2 + CHUNKED)
          3.times { assert_equal "127.4.0.1", client.final_response.body }
          eventually("no reference but its source") { references(connection) == [Cuttle::Connection, @source] }
        end
      end
    end
  end

  # Each place of the source's texts has had several peers in the end.
  def test_addresses_of_more_peers_than_texts_are_kept
    serve("hybrid", threads: 2) do
      kept = Array.new(30) { |i| ["127.5.0.#{i + 1}", connect("127.5.0.#{i + 1}")] }
      kept.each { |address, client| assert_equal address, ask(client) }
      size = ObjectSpace.memsize_of(@source)
      (KEPT * 2).times do |i|
        address = "127.6.#{i / 250}.#{i % 250 + 1}"
        assert_equal address, ask(connect(address))
        @clients.pop.close
        kept.rotate(i).first(2).each { |other, client| assert_equal other, ask(client) } if (i % 10).zero?
      end
      assert_equal size, ObjectSpace.memsize_of(@source)
      assert_operator texts.compact.size, :>, KEPT / 2
      assert_empty texts_of_named
      compact
      kept.shuffle.each { |address, client| 2.times { assert_equal address, ask(client) } }
    end
  end

  # One source, and one store of texts, for peers of all kinds.
  [*EVENTED, "threads"].each do |engine|
    define_method(:"test_addresses_of_every_kind_#{engine}") do
      Dir.mktmpdir do |directory|
        path = "#{directory}/s"
        others = [TCPServer.new("127.0.0.1", 0), UNIXServer.new(path)]
        others.unshift(TCPServer.new("::", 0)) if ipv6?
        serve(engine, listeners: others, threads: engine == "threads" ? 0 : 2) do # 0: a thread for each
          3.times { every_kind(others, path).each { |address, client| 3.times { assert_equal address, ask(client) } } }
          every_kind(others, path).shuffle.each { |address, client| assert_equal address, ask(client) }
        end
      end
    end
  end

  # What a proxy names counts for its connection only, is made into text once, and drives out no peer.
  def test_clients_that_proxies_name
    listener = TCPServer.new(ipv6? ? "::" : "127.0.0.1", 0)
    serve("reactor", listeners: [listener], trust: ["127.0.0.1"], proxy_protocol: true) do
      stranger = ipv6? ? "::ffff:127.0.0.2" : "127.0.0.2"
      assert_equal stranger, ask(connect("127.0.0.2"))
      assert_equal ["127.0.0.1", stranger].last(1), texts.compact
      named = ["192.0.2.1", "127.0.0.2", "2001:db8::1", "::ffff:192.0.2.1", "192.0.2.2"].map do |address|
        [address.delete_prefix("::ffff:"), connect.tap { |client| client.write(v1(address)) }]
      end
      3.times { named.shuffle.each { |address, client| assert_equal address, ask(client) } }
      assert_equal named.map(&:first).uniq.sort, texts_of_named.sort
      assert_equal stranger, ask(@clients.first)
      assert_equal stranger, ask(connect("127.0.0.2"))
      assert_equal [stranger], texts.compact
    end
  end

  # As behind a proxy of many clients: each place has had several.
  def test_more_clients_that_proxies_name_than_texts_are_kept
    serve("reactor", trust: ["127.0.0.1"], proxy_protocol: true) do
      kept = Array.new(10) { |i| ["192.0.2.#{i + 1}", connect.tap { |client| client.write(v1("192.0.2.#{i + 1}")) }] }
      (KEPT * 2).times do |i|
        address = "198.51.#{i / 250}.#{i % 250 + 1}"
        assert_equal address, ask(connect.tap { |client| client.write(v1(address)) })
        @clients.pop.close
        kept.rotate(i).first(2).each { |other, client| assert_equal other, ask(client) } if (i % 10).zero?
      end
      assert_operator texts_of_named.size, :>, KEPT / 2
      assert_empty texts.compact
    end
  end

  def test_what_x_forwarded_for_names_is_not_kept
    serve("reactor", trust: ["127.0.0.1"]) do
      client = connect
      3.times do |i|
        request = REQUEST.sub("\r\n\r\n", "\r\nX-Forwarded-For: 192.0.2.#{i}\r\n\r\n")
        assert_equal "192.0.2.#{i}", client.write(request).final_response.body
        assert_equal "127.0.0.1", ask(client)
      end
      assert_equal ["127.0.0.1"], texts.compact
    end
  end

  # A secured connection keeps what its transport has reported.
  def test_secured_connections_after_a_compaction
    server = Cuttle::Server.new(->(env) { [200, {}, [env.values_at("SSL_PROTOCOL", "REMOTE_ADDR").join(" ")]] },
                                engine: "reactor", binds: [TlsFiles.uri]).start
    clients = Array.new(10) do |i|
      WireClient.new(server.port, from: "127.7.0.#{i + 1}", tls: { ca: TlsFiles.authority.cert_path })
    end
    3.times do
      clients.each_with_index { |client, i| assert_equal "TLSv1.3 127.7.0.#{i + 1}", ask(client) }
      compact
    end
  ensure
    clients&.each(&:close)
    server&.stop
  end

  STRESS = <<~'RUBY'
    require "cuttle"
    require "socket"
    listener = TCPServer.new("127.0.0.1", 0)
    parser = Cuttle::Http::Parsers::Pure if ARGV[0] == "pure"
    poller = Cuttle::Poller.new([listener], env: {}, parser: parser, app_timeout: 60)
    clients = Array.new(4) do |i|
      Socket.new(:INET, :STREAM).tap do |socket|
        socket.bind(Socket.sockaddr_in(0, "127.0.0.#{i + 1}"))
        socket.connect(listener.local_address)
      end
    end
    GC.start
    GC.auto_compact = true if ARGV[1] == "compact"
    3.times do |round|
      clients.each_with_index do |client, i|
        GC.stress = false
        client.write("GET /#{round} HTTP/1.1\r\nHost: a\r\n\r\n")
        GC.stress = true
        exchange = poller.next
        text = exchange.env.values_at("REMOTE_ADDR", "PATH_INFO").join
        exchange.respond(200, {}, [text])
        exchange.dispose
        GC.stress = false
        answer = client.readpartial(1000)[/\r\n\r\n(.*)/m, 1]
        raise "#{answer} for #{i}" unless answer == "127.0.0.#{i + 1}/#{round}"
      end
      GC.compact if ARGV[1] == "compact"
    end
    print "right"
  RUBY

  COMPACTS = GC.respond_to?(:compact) && GC.respond_to?(:verify_compaction_references)

  PARSERS.keys.product(["stress", *("compact" if COMPACTS)]).each do |parser, kind|
    define_method(:"test_with_a_collection_at_each_allocation_#{parser}_#{kind}") do
      paths = Serving::ServingProcess::PATHS.map { |path| "-I#{path}" }
      said, error, status = Open3.capture3(RbConfig.ruby, "--disable=gems", *paths, "-e", STRESS, parser, kind)
      assert status.success?, "#{status} #{error[0, 300]}"
      assert_equal "right", said
    end
  end

  private

  def serve(name, listeners: [TCPServer.new("127.0.0.1", 0)], threads: 2, **options)
    engine = Cuttle::Engines.fetch(name)
    @address = listeners.first.local_address
    @source = engine.source(listeners, core: Cuttle::Cores::Native, env: {}, **options.compact)
    @engine = engine.new(source: @source, service: @service = Service.new, threads: threads..threads, max_fibers: 100)
    thread = Thread.new { @engine.run }
    yield
  ensure
    @clients.each(&:close)
    @engine&.stop
    assert thread.join(PATIENCE) if thread
  end

  def connect(from = nil)
    @clients << WireClient.new(@address.ip_port, from: from)
    @clients.last
  end

  def ask(client) = client.ask(REQUEST).body

  # A client of each kind of peer, with its address.
  def every_kind(listeners, path)
    both = listeners.first if listeners.size > 2
    v4 = listeners.find { |listener| listener.local_address.ipv4? }.local_address.ip_port
    kinds = [["127.0.0.1", path, nil], ["127.0.0.2", v4, "127.0.0.2"], ["127.0.0.1", v4, "127.0.0.1"]]
    kinds.push(["::ffff:127.0.0.2", both.local_address.ip_port, "127.0.0.2"]) if both
    found = kinds.map { |address, target, from| [address, WireClient.new(target, from: from)] }
    found.push(*v6_clients(both.local_address.ip_port)) if both
    @clients.concat(found.map(&:last))
    found
  end

  # ::1, and the link-local addresses that this machine has, which come with the name of their interface.
  def v6_clients(port)
    addresses = Socket.ip_address_list.select { |address| address.ipv6_loopback? || address.ipv6_linklocal? }
    addresses.map { |found| [found.ip_address, WireClient.new(Addrinfo.tcp(found.ip_address, port))] }
  end

  def ipv6?
    TCPServer.new("::1", 0).close
    true
  rescue SystemCallError
    false
  end

  # What the collector finds that an object refers to.
  def references(object = @source)
    ObjectSpace.reachable_objects_from(object) || []
  end

  # How many of each class the source refers to. It may refer to another peer's text than before.
  def kinds = references.map(&:class).tally

  # The same while its connections are idle.
  def at_rest
    eventually("rest") { @source.stats.fetch(:busy).zero? && references.grep(Thread).empty? }
    kinds
  end

  # The source's texts of addresses: of peers of sockets, with nil for free places.
  def texts = all_texts.first(KEPT)

  # And of clients that proxies named.
  def texts_of_named = all_texts.drop(KEPT).compact

  def all_texts
    references.grep(Array).find { |list| list.size == 2 * KEPT } || []
  end

  # Connections of this source.
  def connections
    ObjectSpace.each_object(Cuttle::Connection).select { |connection| references(connection).include?(@source) }
  end

  def compact
    GC.start
    GC.compact if COMPACTS
  end
end

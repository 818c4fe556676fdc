# frozen_string_literal: true

require "test_helper"
require "cuttle/cores/pure"
require "digest/sha2"
require "minitest/mock"
require_relative "support/spool_octets"

# Octets that wait in temporary files, on disks that are good, slow, full or broken (test/support/disk.rb).
module SpoolCase
  include Serving

  APP = "test/engines/spool.ru"
  MEGABYTE = 1 << 20
  LENT = 64 * MEGABYTE

  # Octets that slow clients read slowly, in many pieces. They read the rest fast, which costs less.
  SLOWLY = 500_000

  # So that no client is given up that has its turn late, on a loaded machine.
  PATIENT = %w[--request-timeout 600 --write-timeout 600 --min-rate 0].freeze

  # What AddressSanitizer says of exceptions in fibers, whose stacks it does not know.
  ASAN = /^==\d+==WARNING: ASan is ignoring requested .*\n(?:False positive|For details) .*\n(?:For details .*\n)?/

  def setup
    skip "no Linux, or no compiler, for a disk to play with" unless Disk.possible?
    @disk = Disk.new
    @clients = []
  end

  def teardown
    @clients&.each(&:close)
    @disk&.obey
    @disk&.remove
  end

  def traits = Cuttle::Engines.traits(engine)

  # A server on the disk; it says nothing on standard error but what the block expects.
  def spooling(*flags, err: "", &block)
    threads = traits.pooled? ? ["-t", "4:4"] : []
    serving_process(APP, "--engine", engine, "-w", "0", *threads, "--keep-alive", "--spool-directory", @disk.path,
                    *PATIENT, *flags, env: @disk.env.merge("TMPDIR" => "/nowhere"),
                    fork_server: ForkServer.shared(@disk.preloaded)) do |server|
      assert server.running?, server.err
      block.call(@server = server)
      @disk.obey
      @clients.each(&:close)
      assert_equal 0, server.stop.exitstatus
      assert_operator err, :===, server.err.gsub(ASAN, "")
    end
  end

  def connect(**options)
    WireClient.new(@server.port, deadline: PATIENCE, **options).tap { |client| @clients << client }
  end

  def get(target, *lines) = "GET #{target} HTTP/1.1\r\nHost: a\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n"

  def post_head(size) = "POST /digest HTTP/1.1\r\nHost: a\r\nContent-Length: #{size}\r\n\r\n"

  def chunked(body, size)
    head = "POST /digest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".b
    0.step(body.bytesize - 1, size) do |at|
      chunk = body.byteslice(at, size)
      head << "#{chunk.bytesize.to_s(16)}\r\n" << chunk << "\r\n"
    end
    head << "0\r\n\r\n"
  end

  def digest_of(body) = "#{body.bytesize} #{Digest::SHA256.hexdigest(body)}"

  # On a connection of its own.
  def fetch(target)
    WireClient.open(@server.port, deadline: PATIENCE) { |client| client.ask(get(target, "Connection: close")).body }
  end

  def assert_serves = assert_equal("hello", fetch("/hello"))

  def files = @disk.open_files(@server.pid)

  def assert_no_files = eventually("closed temporary files") { files.empty? }

  # A client that doesn't read what it asked for, which is all that an app may lend: what others wait for is spooled.
  def borrow_all
    connect(receive_buffer: 8_192).write(get("/large?#{LENT}")).tap { |client| assert client.heard?(PATIENCE) }
  end

  # Sends what the server takes. Returns how many octets that were once it took no more for a while.
  def push(client, octets)
    sent = 0
    while sent < octets.bytesize
      count = client.socket.write_nonblock(octets.byteslice(sent, 256 * 1024), exception: false)
      next sent += count if count.is_a?(Integer)
      break unless client.socket.wait_writable(0.3)
    end
    sent
  end

  def assert_octets(size, body)
    assert SpoolOctets.of?(size, body), "other octets than the #{size} that were asked for"
  end

  def upload(body) = connect.write(post_head(body.bytesize) + body)
end

# What every engine does with a disk.
module SpoolsAnywhere
  include SpoolCase

  SIZES = [65_536, 65_537, 131_073, 700_001, 5_000_003].freeze

  def test_uploads_arrive_as_they_were_sent
    spooling do
      @disk.mode = "short"
      SIZES.each do |size|
        body = SpoolOctets.of(size)
        expected = digest_of(body)
        assert_equal expected, upload(body).response.body
        assert_equal expected, connect.ask(chunked(body, 4_999)).body
        @clients.each(&:close).clear
      end
      assert_no_files
      assert_empty @disk.names
    end
  end

  def test_uploads_in_parallel_arrive_as_they_were_sent
    spooling do
      bodies = Array.new(6) { |i| SpoolOctets.of(2_000_000 + i) }
      answers = bodies.map { |body| Thread.new { upload(body).tap(&:half_close).response.body } }.map(&:value)
      assert_equal bodies.map { |body| digest_of(body) }, answers
      assert_no_files
    end
  end

  def test_large_responses_arrive_as_they_were_given
    spooling do
      borrow_all if traits.evented?
      (traits.inline? ? %w[large] : %w[large stream]).each do |action| # inline, a stream is the only thread's affair
        readers = Array.new(traits.evented? ? 3 : 1) do |i|
          connect(receive_buffer: 8_192).write(get("/#{action}?#{8_000_000 + i}", "Connection: close"))
        end
        readers.each_with_index do |reader, i|
          assert_octets 8_000_000 + i, reader.hurry(after: SLOWLY).response.body
        end
      end
      assert_no_files
    end
  end

  def test_files_without_o_tmpfile_are_private_and_unlinked_too
    spooling do
      @disk.mode = "unnamed"
      body = SpoolOctets.of(300_000)
      assert_equal digest_of(body), upload(body).response.body
      assert_empty @disk.names
    end
  end

  def test_a_full_disk_refuses_bodies_and_is_reported_once
    line = %r{\Acuttle: temporary files in #{@disk.path} can't be written \(No space left on device\): .*\n\z}
    spooling(err: line) do
      @disk.fail("full")
      3.times { assert_equal 503, upload(SpoolOctets.of(900_000)).response.status }
      assert_serves
      assert_equal digest_of("x"), upload("x").response.body
      assert_equal 3_000_000, connect.ask(get("/large?3000000")).body.bytesize
      @clients.each(&:close)
      assert_no_files
      @disk.obey
      body = SpoolOctets.of(900_000)
      assert_equal digest_of(body), upload(body).response.body
    end
  end

  def test_a_body_beyond_the_limit_is_refused_and_its_room_given_back
    line = /\Acuttle: temporary files have reached their limit of 1000000 octets .*\n\z/
    spooling("--max-spool", "1000000", err: line) do
      2.times do
        assert_equal 503, connect.ask(post_head(1_000_001)).status
        refused = connect.write(chunked(SpoolOctets.of(1_500_000), 50_000))
        assert_equal 503, refused.response.status
        assert_equal :closed, refused.tap(&:half_close).ending
      end
      3.times do
        body = SpoolOctets.of(1_000_000)
        assert_equal digest_of(body), eventually("room") {
          answer = upload(body).response
          answer.body if answer.status == 200
        }
      end
      assert_serves
    end
  end

  # Each arrives as it was given, from a file or from memory, and what is in files stays within the limit.
  def test_whole_responses_beyond_the_limit_stay_in_memory
    line = /\Acuttle: temporary files have reached their limit of 9000000 octets .*\n\z/
    spooling("--max-spool", "9000000", err: traits.evented? ? line : "") do
      borrows = traits.evented? || traits.pooled? # otherwise the one thread would wait for the borrower
      borrow_all if borrows
      readers = Array.new(traits.evented? ? 4 : 1) do |i|
        connect(receive_buffer: 8_192).write(get("/large?#{8_000_000 + i}", "Connection: close"))
      end
      readers.each { |reader| assert reader.heard?(PATIENCE) }
      eventually("a temporary file") { files.any?(&:positive?) } if borrows
      assert_operator files.sum, :<=, 9_000_000
      readers.each_with_index { |reader, i| assert_octets 8_000_000 + i, reader.hurry(after: SLOWLY).response.body }
      assert_no_files
      body = SpoolOctets.of(8_000_000)
      assert_equal digest_of(body), upload(body).response.body
    end
  end

  def test_an_aborted_upload_leaves_nothing
    spooling do
      client = connect.write(post_head(4_000_000) + SpoolOctets.of(1_000_000))
      eventually("a temporary file") { files.any?(&:positive?) }
      client.reset
      @clients.clear
      assert_no_files
      assert_serves
    end
  end

  def test_stopping_lets_a_slow_disk_finish_a_body
    spooling do
      @disk.hold
      body = SpoolOctets.of(400_000)
      client = upload(body)
      eventually("a temporary file") { files.any? }
      Process.kill("TERM", @server.pid)
      eventually("no listener") { RawClient.refused?(@server.port) } if traits.evented? || traits.pooled?
      @disk.obey
      assert_equal digest_of(body), client.response.body
    end
  end

  def test_stopping_does_not_wait_for_a_disk_for_ever
    serving_process(APP, "--engine", engine, "-w", "0", "--spool-directory", @disk.path, "--shutdown-timeout", "1",
                    env: @disk.env) do |server|
      @server = server
      @disk.hold
      upload(SpoolOctets.of(400_000))
      eventually("a temporary file") { files.any? }
      assert_equal 1, server.stop.exitstatus
    end
  end
end

# What engines that serve several connections at once do besides.
module SpoolsForMany
  include SpoolCase

  def test_an_upload_that_waits_for_the_disk_holds_up_nobody
    spooling do
      @disk.hold
      body = SpoolOctets.of(24 * MEGABYTE)
      client = connect.write(post_head(body.bytesize))
      sent = push(client, body)
      assert_operator sent, :<, 20 * MEGABYTE, "the server reads on, though its disk does not follow"
      20.times { assert_serves }
      @disk.obey
      assert_equal digest_of(body), client.write(body.byteslice(sent..)).response.body
      @clients.each(&:close)
      assert_no_files
    end
  end

  def test_a_client_that_leaves_while_the_disk_is_slow_leaves_nothing
    spooling do
      @disk.hold
      client = connect.write(post_head(24 * MEGABYTE))
      push(client, SpoolOctets.of(2 * MEGABYTE))
      eventually("a temporary file") { files.any? }
      client.reset
      @clients.clear
      assert_serves
      @disk.obey
      assert_no_files
    end
  end
end

# What engines whose poller sends for the app do besides.
module SpoolsAhead
  include SpoolCase

  # Everybody waited, for the disk was written with the lock held.
  def test_a_whole_response_waits_for_no_disk
    spooling do
      borrow_all
      @disk.hold
      readers = Array.new(8) do |i|
        connect(receive_buffer: 8_192).write(get("/large?#{6_000_000 + i}", "Connection: close"))
      end
      readers.each { |reader| assert reader.heard?(PATIENCE) }
      20.times { assert_serves }
      readers.each_with_index do |reader, i|
        assert_octets 6_000_000 + i, reader.hurry(after: SLOWLY).response.body
      end
      @disk.obey
      assert_no_files
    end
  end

  def test_an_aborted_download_leaves_nothing
    spooling do
      borrow_all
      actions = traits.inline? ? %w[large large] : %w[large stream]
      actions.each { |action| connect(receive_buffer: 8_192).write(get("/#{action}?12000000")) }
      eventually("temporary files") { files.count(&:positive?) >= 2 }
      @clients.each(&:reset).clear
      assert_no_files
      assert_serves
    end
  end

  def test_a_child_of_the_app_has_no_temporary_file
    spooling do
      borrow_all
      reader = connect(receive_buffer: 8_192).write(get("/large?12000001", "Connection: close"))
      upload = connect.write(post_head(500_000) + SpoolOctets.of(500_000).byteslice(0, 300_000))
      eventually("temporary files") { files.count(&:positive?) >= 2 }
      child = connect.ask(get("/fork")).body.to_i
      begin
        eventually("a child without them") { @disk.open_files(child).empty? }
        assert_octets 12_000_001, reader.hurry(after: SLOWLY).response.body
        body = SpoolOctets.of(500_000)
        assert_equal digest_of(body), upload.write(body.byteslice(300_000..)).response.body
        assert_no_files
      ensure
        Process.kill("KILL", child)
      end
    end
  end
end

# What engines do besides whose app may stream while others are served.
module SpoolsStreams
  include SpoolCase

  # It stays in memory, so a stream may be no further ahead of its client than that bears.
  def test_a_stream_waits_when_the_disk_does_not_follow
    ["hold", "full", "--max-spool"].each do |trouble|
      flags = trouble == "--max-spool" ? ["--max-spool", "500000"] : []
      spooling(*flags, err: trouble == "hold" ? "" : /\Acuttle: temporary files .*\n\z/) do
        @disk.fail(trouble)
        reader = connect(receive_buffer: 8_192).write(get("/stream?24000000", "Connection: close"))
        assert_operator ahead, :<, 14 * MEGABYTE, trouble
        assert_operator files.sum, :<=, 500_000, trouble
        assert_octets 24_000_000, reader.hurry(after: SLOWLY).response.body
      end
    end
  end

  # It was taken for a client that reads nothing, and cut off.
  def test_a_stream_whose_wait_is_interrupted_waits_on
    spooling do
      @disk.hold
      reader = connect(receive_buffer: 8_192).write(get("/stream?24000000", "Connection: close"))
      ahead
      3.times { assert_equal "woken", fetch("/wake") }
      @disk.obey
      assert_octets 24_000_000, reader.hurry(after: SLOWLY).response.body
    end
  end

  def test_what_a_stream_has_sent_needs_no_disk
    spooling do
      reader = connect(receive_buffer: 65_536).write(get("/stream?#{60 * MEGABYTE}", "Connection: close"))
      assert_operator ahead, :>, 10 * MEGABYTE
      most = files.sum # the watcher may have no turn while the client reads
      watcher = Thread.new { Thread.current[:most] = most = [most, files.sum].max while sleep(0.01) }
      body = reader.response.body
      watcher.kill.join
      assert_octets 60 * MEGABYTE, body
      assert_operator most, :>, 8 * MEGABYTE
      assert_operator most, :<, 40 * MEGABYTE
      assert_no_files
    end
  end

  private

  # Octets that a stream is ahead of its client, once it has gone on for as long as it does.
  def ahead
    before = nil
    eventually("a stream that waits") do
      now = fetch("/streamed").to_i
      before == now && now.positive? ? now : (before = now) && sleep(0.3) && nil
    end
  end
end

# Every octet is on the account as long as it waits or is in a file, and no longer.
class TestSpoolAccount < Minitest::Test
  include Eventually

  # Answers /whole and /stream with 12 MB, /borrow with all that may be lent, and everything else with what its body
  # was.
  class Service
    def call(exchange)
      case exchange.path
      when "/borrow" then exchange.respond(200, {}, ["b" * SpoolCase::LENT])
      when "/whole" then exchange.respond(200, {}, ["w" * 12_000_000])
      when "/stream" then stream(exchange)
      else exchange.respond(200, {}, [exchange.env["rack.input"].read.bytesize.to_s])
      end
    rescue Cuttle::Disconnected
      exchange.abort
    ensure
      exchange.dispose
    end

    def stream(exchange)
      exchange.start(200, {})
      1200.times { exchange.write("s" * 10_000) }
      exchange.finish
    end
  end

  def setup
    @listener = TCPServer.new("127.0.0.1", 0)
    @port = @listener.local_address.ip_port
    @source = Cuttle::Engines::Hybrid.source([@listener], core: Cuttle::Cores::Native, env: {}, write_timeout: 600)
    @engine = Cuttle::Engines::Hybrid.new(source: @source, service: Service.new, threads: 2..2)
    @thread = Thread.new { @engine.run }
    @clients = []
  end

  def teardown
    @clients.each(&:close)
    @engine.stop
    assert @thread.join(20)
  end

  def test_it_is_even_once_all_is_read
    borrow_all
    clients = %w[/whole /stream /whole].map { |path| open(path) }
    eventually("spooled octets") { spooled > 9_000_000 }
    assert_operator spooled, :<=, 36_000_000
    clients.each do |client|
      assert_equal 12_000_000, client.hurry(after: SpoolCase::SLOWLY).response.body.bytesize
    end
    assert_even
  end

  def test_it_is_even_once_clients_have_left
    borrow_all
    clients = %w[/whole /stream].map { |path| open(path) }
    clients << open("/upload", 3_000_000).write("u" * 2_000_000)
    eventually("spooled octets") { spooled > 9_000_000 }
    clients.each(&:reset)
    assert_even
  end

  def test_it_is_even_once_a_body_was_read
    2.times do
      client = open("/upload", 900_000).write("u" * 900_000)
      assert_equal "900000", client.response.body
      client.close
      assert_even
    end
  end

  private

  def borrow_all = assert(open("/borrow").heard?(30))

  def spooled = @source.stats.fetch(:spooled)

  def assert_even = eventually("an even account") { spooled.zero? }

  def open(path, length = 0)
    @clients << WireClient.new(@port, receive_buffer: 8_192)
    @clients.last.write("POST #{path} HTTP/1.1\r\nHost: a\r\nContent-Length: #{length}\r\n\r\n")
  end
end

# --spool-directory goes before TMPDIR, and that before /tmp; each side of the core looks for itself.
class TestSpoolDirectory < Minitest::Test
  include Serving

  BODY = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n#{"z" * 400_000}"

  def test_where_temporary_files_are
    skip "needs /proc" unless File.directory?("/proc/self/fd")

    Dir.mktmpdir do |chosen|
      Dir.mktmpdir do |usual|
        %w[hybrid threads].each do |engine|
          assert_spools_to chosen, engine, "--spool-directory", chosen, env: { "TMPDIR" => usual }
          assert_spools_to usual, engine, env: { "TMPDIR" => usual }
          ["", nil].each { |unset| assert_spools_to "/tmp", engine, env: { "TMPDIR" => unset } }
        end
      end
    end
  end

  private

  def assert_spools_to(directory, engine, *flags, env:)
    serving_process("#{ROOT}/examples/hello.ru", "--engine", engine, *flags, env: env, forked: true) do |server|
      WireClient.open(server.port) do |client|
        client.write(BODY)
        place = %r{\A#{File.realpath(directory)}/[^/]+ \(deleted\)\z}
        eventually("a temporary file in #{directory}, of #{open_files(server)}") { open_files(server).grep(place).any? }
      end
    end
  end

  def open_files(server)
    Dir.glob("/proc/#{server.pid}/fd/*").filter_map { |link| File.readlink(link) if File.symlink?(link) }
  rescue Errno::ENOENT
    retry # one was closed between the two
  end
end

# Of temporary files that fail, the server says what is news.
class TestSpoolReports < Minitest::Test
  include Serving

  CORES = ENV["CUTTLE_SANITIZE"] ? %w[native] : Cuttle::Cores.names # the others have nothing for sanitizers

  def test_a_disk_that_fails_again_is_reported_again
    each_source do |directory, server|
      2.times do |reports|
        Dir.rmdir(directory)
        2.times { assert_equal 503, upload(server).status }
        eventually("a report") { server.err.lines.length > reports }
        Dir.mkdir(directory)
        assert_equal 200, upload(server).status
      end
      finish(server)
      line = "cuttle: temporary files in #{directory} can't be written (No such file or directory): " \
             "requests with a large body get 503"
      assert_equal [line] * 2, server.err.lines.map { |said| said.chomp[0, line.length] }
    end
  end

  # Also if the body is refused by its announced length.
  def test_the_limit_is_reported_once
    ["Content-Length: 900000", "Transfer-Encoding: chunked"].each do |framing|
      each_source("--max-spool", "100000") do |_, server|
        2.times { assert_equal 503, upload(server, framing).status }
        finish(server)
        assert_match(/\Acuttle: temporary files have reached their limit of 100000 octets \(--max-spool\): .*\n\z/,
                     server.err)
      end
    end
  end

  def test_the_limit_is_reported_again_after_a_minute
    spool = Cuttle::Cores::Pure::Spool.new(nil, 10)
    full = assert_raises(Cuttle::Cores::Pure::Spool::Full) { spool.check(11) }
    said = [0, 59.9, 60, 61, 120].select { |now| Cuttle.stub(:now, now) { spool.news_of(full) } }
    assert_equal [0, 60, 120], said
  end

  private

  # Yields a directory for temporary files, and a server that has it, for each core and kind of source.
  def each_source(*flags)
    CORES.product(%w[hybrid threads]).each do |core, engine|
      Dir.mktmpdir do |home|
        Dir.mkdir(directory = "#{File.realpath(home)}/spool")
        serving_process("#{ROOT}/examples/hello.ru", "-w", "0", "--core", core, "--engine", engine,
                        "--spool-directory", directory, *flags, forked: true) { |server| yield directory, server }
      end
    end
  end

  # Sends a body of 900,000 octets in one chunk. Returns the response.
  def upload(server, framing = "Content-Length: 900000")
    body = framing.include?("chunked") ? "dbba0\r\n#{"z" * 900_000}\r\n0\r\n\r\n" : "z" * 900_000
    WireClient.open(server.port) { |client| client.ask("POST / HTTP/1.1\r\nHost: a\r\n#{framing}\r\n\r\n#{body}") }
  end

  def finish(server)
    assert_equal 0, server.stop.exitstatus
  end
end

Serving::ENGINES.each do |name|
  traits = Cuttle::Engines.traits(name)
  suite = Class.new(Minitest::Test) do
    define_method(:engine) { name }
    define_singleton_method(:name) { "TestSpool(#{name})" }
    define_singleton_method(:to_s) { "TestSpool(#{name})" }
    include SpoolsAnywhere
    include SpoolsForMany if traits.evented? || traits.pooled?
    include SpoolsAhead if traits.evented?
    include SpoolsStreams if traits.evented? && !traits.inline?
  end
  Object.const_set("TestSpool#{name.capitalize}", suite)
end

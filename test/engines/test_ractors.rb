# frozen_string_literal: true

require "test_helper"
require "open3"

# Engine ractors beyond what every engine does: what it refuses, and how a ractor is replaced.
class TestRactors < Minitest::Test
  include Serving

  APP = <<~RUBY
    class App
      def self.call(env)
        case env["PATH_INFO"]
        when "/end" then Thread.main.kill
        when "/count" then count
        when "/block" then block
        end
        [200, { "content-type" => "text/plain" }, ["\#{Ractor.current.object_id}"]]
      end

      def self.count = @@count
      @@count = 0
      define_singleton_method(:block) { nil }
    end
    run App
  RUBY

  # An app for a server in this process.
  class Hello
    def self.call(_env) = [200, { "content-type" => "text/plain" }, ["hello"]]
  end

  def test_it_needs_ruby_4
    skip "this is one" if Cuttle::Engines.unavailable("ractors").nil?

    assert_refused "engine ractors needs Ruby 4.0 or newer; this is ruby #{RUBY_VERSION}", APP
  end

  def test_what_does_not_go_with_it
    needs_ractors
    assert_refused(/serves in one process: use --ractors instead of --workers/, APP, "-w", "2")
    assert_refused(/needs --core native/, APP, "--core", "pure")
  end

  def test_ractors_of_another_engine
    error = assert_raises(Cuttle::UsageError) { Cuttle::Settings.build(variables: {}, engine: "hybrid", ractors: 2) }
    assert_equal "engine hybrid has no ractors: leave out --ractors, or use --engine ractors", error.message
  end

  def test_an_app_that_cannot_be_shared_is_refused_in_one_line
    needs_ractors
    {
      "run ->(env) { [200, {}, []] }" => /the block at .*config\.ru:1 can't be shared: write Ractor\.shareable_lambda/,
      "class Q\n  @@n = 1\n  def self.call(env) = [200, {}, [@@n.to_s]]\nend\nrun Q" =>
        /class variable @@n of Q \(.*config\.ru:1\), used at .*config\.ru:3/,
      "class Q\n  @n = [+'']\n  def self.call(env) = [200, {}, [@n.to_s]]\nend\nrun Q" =>
        /variable @n of Q \(.*config\.ru:1\), used at .*config\.ru:3/,
      "class Q\n  N = [+'']\n  def self.call(env) = [200, {}, N]\nend\nrun Q" =>
        /constant N of Q \(.*config\.ru:1\), used at .*config\.ru:3/
    }.each { |app, line| assert_refused(line, app) }
  end

  # The check does with a body what a server does: it closes it, and gives a callable one a stream.
  def test_a_body_that_ractors_cannot_run_is_refused
    needs_ractors
    assert_refused(/class variable @@n of Q \(.*config\.ru:1\), used at .*config\.ru:5/, <<~RUBY)
      class Q
        @@n = 1
        def self.call(env) = [200, {}, new]
        def each = yield("a part")
        def close = @@n
      end
      run Q
    RUBY
    assert_refused(/class variable @@n of Q \(.*config\.ru:1\), used at .*config\.ru:7/, <<~RUBY)
      class Q
        @@n = 1
        def self.call(env) = [200, {}, method(:send_all)]
        def self.send_all(stream)
          stream.write("a", "b") == 2 && stream.read == "" && (stream << "c").flush
          stream.close
          @@n if stream.closed?
        end
      end
      run Q
    RUBY
  end

  def test_bodies_without_an_end_and_with_a_close_that_fails_are_served
    needs_ractors
    app = <<~RUBY
      class Q
        def self.call(env) = [200, {}, env["PATH_INFO"] == "/" ? method(:feed) : new]
        def self.feed(stream) = loop { stream.write("more") && sleep(0.01) }
        def each = yield("a part")
        def close = raise("of the app's")
      end
      run Q
    RUBY
    serve(app) { |server| assert_equal "a part", answer(server, "/part").body }
    serve(app.sub("/", "/feed")) { |server| assert_equal "a part", answer(server, "/").body }
  end

  def test_what_is_in_the_way_later_is_named_once
    needs_ractors
    lines = [/^cuttle: .*: class variable @@count of App \(.*\), used at .*config\.ru:11$/,
             /^cuttle: .*: a method that define_method made of a block, used at .*config\.ru:6$/]
    serve(APP) do |server|
      statuses = Array.new(4) { Thread.new { Array.new(5) { answer(server, "/count").status } } }.flat_map(&:value)
      assert_equal [500] * 20, statuses
      assert_equal 500, answer(server, "/block").status
      eventually("the lines") { lines.all? { |line| server.err.match?(line) } }
      assert_equal 200, answer(server, "/").status
      assert_equal 0, server.stop.exitstatus
      assert_equal [1, 1], lines.map { |line| server.err.scan(line).size }, server.err
    end
  end

  # A line that names an object by its address is new each time.
  def test_so_many_lines_are_remembered
    known = Cuttle::Rack::Obstacles::Known.new
    assert known.add?("a")
    refute known.add?("a")
    lines = Array.new(known.class::MOST, &:to_s)
    assert_equal [true], lines.map { |line| known.add?(line) }.uniq
    assert_equal [false], lines.map { |line| known.add?(line) }.uniq
    assert known.add?("a")
  end

  # An app under another engine may use ractors itself.
  def test_errors_of_the_main_ractor_are_the_apps
    assert_nil Cuttle::Rack::RactorCheck.explain(Ractor::RemoteError.new("of the app's"))
  end

  def test_a_ractor_that_ends_is_replaced
    needs_ractors
    serve(APP, "--ractors", "1") do |server|
      assert_equal 200, answer(server, "/end").status
      eventually("its end") { server.err.match?(/\Acuttle: a ractor has ended; starting another\n\z/) }
      assert_equal 200, answer(server, "/").status
      assert_equal 0, server.stop.exitstatus
    end
  end

  # Its place stayed empty, and the stop raised the error.
  def test_a_ractor_that_can_not_start_at_once
    needs_ractors
    server = Cuttle::Server.new(Hello, engine: "ractors", ractors: 1).tap(&:prepare)
    errors = [Errno::EMFILE.new, Errno::EMFILE.new, ThreadError.new("no more threads")]
    listener = server.__send__(:listeners).sockets.first
    listener.define_singleton_method(:dup) { errors.empty? ? super() : raise(errors.shift) }
    _, err = capture_io do
      server.start
      assert_equal 200, answer(server, "/").status
      server.stop
    end
    assert_equal "cuttle: can't start a ractor (Too many open files): trying again\n", err
  ensure
    server&.stop
  end

  # Each attempt left two descriptors open.
  def test_a_ractor_that_fails_at_once_leaves_no_descriptors
    needs_ractors
    before = ENV.fetch("CUTTLE_BACKEND", nil)
    server = Cuttle::Server.new(Hello, engine: "ractors", ractors: 1).tap(&:prepare)
    GC.disable # it would close some
    ENV["CUTTLE_BACKEND"] = "none"
    _, err = capture_io do
      server.start
      open = open_after(2)
      eventually("as few descriptors as before") { open_after(12) <= open }
      ENV["CUTTLE_BACKEND"] = before
      assert_equal 200, answer(server, "/").status
    end
    assert_match(/a ractor has ended: CUTTLE_BACKEND=none.*; starting another$/, err)
  ensure
    ENV["CUTTLE_BACKEND"] = before
    GC.enable
    server&.stop
  end

  # It stopped the parent's.
  def test_a_child_that_stops_its_copy
    needs_ractors
    serving(Hello, engine: "ractors", ractors: 1) do |server|
      assert_equal 200, answer(server, "/").status
      _, status = Process.wait2(fork { server.stop_soon.then { exit!(7) } })
      assert_equal 7, status.exitstatus
      refute Thread.new { server.wait }.join(0.5), "it has ended"
      assert_equal 200, answer(server, "/").status
    end
  end

  STRESS = <<~RUBY
    require "timeout"
    class App
      def self.call(env)
        case env["PATH_INFO"]
        when "/raise" then raise "of the app's"
        when "/kill" then Thread.current.kill
        when "/timeout" then Timeout.timeout(0.01) { sleep }
        when "/collect" then GC.start
        when "/compact" then GC.compact
        when "/fork" then fork { exit! }
        end
        [200, { "content-type" => "text/plain" }, ["x" * 1_000]]
      end
    end
    run App
  RUBY
  WAYS = { "/" => [200], "/collect" => [200], "/compact" => [200], "/raise" => [500], "/timeout" => [500],
           "/fork" => [500], "/kill" => [nil, 500] }.freeze

  # Whatever the app does in its ractor, every other request is answered, and the number of serving threads stays the
  # same.
  def test_apps_that_raise_kill_time_out_collect_and_fork
    needs_ractors
    serve(STRESS) do |server|
      paths = (WAYS.keys * 12).shuffle(random: Random.new(Minitest.seed))
      clients = paths.each_slice(21).map { |some| Thread.new { some.map { |path| [path, status(server, path)] } } }
      clients.flat_map(&:value).each { |path, status| assert_includes WAYS[path], status, path }
      assert_equal [200] * 20, Array.new(20) { status(server, "/") }
      eventually("the line of fork") { server.err.match?(/fork/i) }
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_rack_in_ractors
    needs_ractors
    app = <<~RUBY
      class App
        def call(env)
          request = Rack::Request.new(env)
          said = [request.params, request.cookies, request.ip, request.host, request.media_type]
          Rack::Response.new(said.inspect, 200, { "content-type" => "text/plain" }).finish
        end
      end
      use Rack::ContentLength
      use Rack::ETag
      run App.new
    RUBY
    serve(app) do |server|
      said = request(server, "POST /?a=1&b[]=2 HTTP/1.1\r\nHost: example\r\nCookie: c=3\r\nConnection: close\r\n" \
                             "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\nd=4").body
      expected = [{ "a" => "1", "b" => ["2"], "d" => "4" }, { "c" => "3" }, "127.0.0.1", "example",
                  "application/x-www-form-urlencoded"]
      assert_equal expected.inspect, said
    end
  end

  # Files of forms are Tempfiles, which are removed when they are garbage.
  def test_multipart_forms_in_ractors
    needs_ractors
    app = <<~RUBY
      class App
        def self.call(env)
          params = Rack::Request.new(env).params
          file = params["file"][:tempfile]
          GC.start
          [200, {}, [[params["note"], file.class, File.exist?(file.path), file.read.sum].inspect]]
        end
      end
      run App
    RUBY
    octets = "x" * 200_000
    Dir.mktmpdir do |directory|
      serve(app, env: { "TMPDIR" => directory }) do |server|
        10.times { assert_equal ["a note", Tempfile, true, octets.sum].inspect, upload(server, octets).body }
        assert_operator Dir.children(directory).size, :<, 10
        assert_equal 0, server.stop.exitstatus
        assert_empty server.err
      end
      assert_empty Dir.children(directory)
    end
  end

  def test_a_page_of_racks_for_exceptions
    needs_ractors
    app = <<~RUBY
      class App
        def self.call(_env) = raise("of the app's")
      end
      use Rack::ShowExceptions
      run App
    RUBY
    serve(app) do |server|
      page = request(server, "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n")
      assert_equal 500, page.status
      assert_match(/<h1>RuntimeError at/, page.body)
    end
  end

  # Prints what modules of Rack have in constants, private ones too, and variables that can't be shared once an app is.
  UNSHAREABLE = <<~'RUBY'
    require "cuttle"
    Cuttle::Rack::Sharing.call(Ractor.shareable_lambda { |_env| [200, {}, []] })
    sources = Dir["#{File.dirname(Rack.method(:release).source_location.first)}/**/*.rb"]
    hidden = sources.flat_map { |path| File.read(path).scan(/^ *private_constant (.+)/) }.join.scan(/:(\w+)/).flatten
    rooms = [Rack]
    rooms.each do |room|
      names = room.constants(false) + hidden.select { |name| room.const_defined?(name, false) }
      found = names.reject { |name| room.autoload?(name) }.to_h { |name| ["#{room}::#{name}", room.const_get(name)] }
      found.update(room.instance_variables.to_h { |name| ["#{room}.#{name}", room.instance_variable_get(name)] })
      modules, values = found.partition { |_, value| value.is_a?(Module) }
      rooms.concat(modules.map(&:last).select { |value| value.name.to_s.start_with?("Rack::") } - rooms)
      puts values.reject { |_, value| Ractor.shareable?(value) }.map(&:first)
    end
  RUBY

  # docs/engines.md lists them.
  def test_what_of_rack_cannot_be_shared
    needs_ractors
    listed = File.read("#{ROOT}/docs/engines.md")[/^## ractors$.*?^## /m].scan(/`(Rack::[\w:]+)`/)
    found, status = Open3.capture2(RbConfig.ruby, "-I#{ROOT}/lib", "-e", UNSHAREABLE)
    assert_predicate status, :success?
    assert_equal listed.flatten.sort, found.split.sort
  end

  private

  def needs_ractors
    why = Cuttle::Engines.unavailable("ractors") and skip "engine ractors #{why}"
  end

  def serve(app, *flags, **options, &block)
    in_rackup(app) do |path|
      serving_process(path, "--engine", "ractors", "--ractors", "2", "-t", "2", *flags, **options, &block)
    end
  end

  def in_rackup(app)
    Dir.mktmpdir do |directory|
      path = File.join(directory, "config.ru")
      File.write(path, app)
      yield path
    end
  end

  def assert_refused(line, app, *flags)
    in_rackup(app) do |path|
      serving_process(path, "--engine", "ractors", *flags) do |server|
        refute_predicate server, :running?
        assert_equal 2, server.status.exitstatus, server.err
        assert_match line, server.err.lines.first
      end
    end
  end

  # The number of open descriptors once so many ractors have ended.
  def open_after(times)
    eventually("#{times} ends of ractors") { $stderr.string.scan("a ractor has ended").size >= times }
    Dir.children("/proc/self/fd").size
  end

  # A form with a note and a file.
  def upload(server, octets)
    part = "--edge\r\nContent-Disposition: form-data; name="
    form = "#{part}\"note\"\r\n\r\na note\r\n#{part}\"file\"; filename=\"x\"\r\n\r\n#{octets}\r\n--edge--\r\n"
    request(server, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: #{form.bytesize}\r\n" \
                    "Content-Type: multipart/form-data; boundary=edge\r\n\r\n#{form}")
  end

  # nil if the connection ended without an answer.
  def status(server, path)
    answer(server, path)&.status
  rescue WireClient::Truncated
    nil
  end

  def answer(server, path)
    request(server, "GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  end
end

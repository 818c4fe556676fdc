# frozen_string_literal: true

require "io/wait"
require "test_helper"
require "timeout"

# What only the fibers engine has: the app's waiting goes through its scheduler.
class TestFibers < Minitest::Test
  include Serving

  # What an app does with fibers of its own, and what that returns under every engine.
  NESTED = {
    "one" => ["one", -> { Fiber.new { sleep(0.01) && "one" }.resume }],
    "two deep" => ["two deep", -> { Fiber.new { "two #{Fiber.new { sleep(0.01) && "deep" }.resume}" }.resume }],
    "turns" => ["0 1 2", -> { fiber = counting and Array.new(3) { fiber.resume }.join(" ") }],
    "enumerator" => ["0 1 2", -> { numbers = napping and Array.new(3) { numbers.next }.join(" ") }],
    "an enumerator in a fiber" => ["0", -> { Fiber.new { napping.next.to_s }.resume }],
    "blocking" => ["blocking", -> { Fiber.new(blocking: true) { sleep(0.01) && "blocking" }.resume }],
    "thread" => ["joined", -> { Fiber.new { Thread.new { "joined" }.value }.resume }],
    "raise" => ["raised", -> { Fiber.new { sleep(0.001) && raise("raised") }.resume rescue $!.message }],
    "unended" => ["begun", -> { Fiber.new { sleep(0.001) && Fiber.yield("begun") }.resume }],
    "transfer" => ["transferred", -> { Fiber.new { "transferred" }.transfer }],
    "timeout" => ["Timeout::Error", -> { Timeout.timeout(0.01) { Fiber.new { sleep }.resume } rescue $!.class.name }],
    "timeout of a transfer" => ["Timeout::Error", lambda {
      Timeout.timeout(0.01) { Fiber.new { sleep }.transfer } rescue $!.class.name
    }],
    "timeouts" => ["Timeout::Error", lambda {
      Fiber.new { Timeout.timeout(0.01) { Fiber.new { sleep }.resume } rescue $!.class.name }.resume
    }]
  }.freeze

  # As ActiveSupport::Duration, which is no Numeric and makes another one of what is added to it.
  Lasting = Struct.new(:seconds) do
    include Comparable

    def divmod(other) = seconds.divmod(other)
    def coerce(other) = [Lasting.new(other), self]
    def +(other) = Lasting.new(seconds + other.to_f)
    def -(other) = Lasting.new(seconds - other.to_f)
    def <=>(other) = seconds <=> other.to_f
    def to_f = seconds.to_f
  end

  DURATIONS = [0, 0.0, 0.001, 1/1000r, Lasting.new(0.001), -1, -0.001, -1r, Lasting.new(-1), Float::NAN, 1e300,
               10**30, "1", :one, Object.new, [], false].freeze

  # How an app may wait for a duration.
  WAITS = {
    "sleep" => ->(duration) { sleep(duration).class },
    "select" => ->(duration) { IO.pipe { |input, _| select([input], nil, nil, duration).inspect } },
    "select what is ready" => ->(duration) { IO.pipe { |_, output| select(nil, [output], nil, duration).class } },
    "wait_readable" => ->(duration) { IO.pipe { |input, _| input.wait_readable(duration).inspect } },
    "Mutex#sleep" => ->(duration) { Mutex.new.tap(&:lock).tap { |mutex| mutex.sleep(duration) }.locked? }
  }.freeze

  # Three numbers, with a wait before each.
  def self.counting = Fiber.new { 3.times { |number| sleep(0.001) && Fiber.yield(number) } }
  def self.napping = Enumerator.new(3) { |to| 3.times { |number| sleep(0.001) && to << number } }

  Serving::ENGINES.each do |engine|
    # Under fibers they got nil, at once.
    define_method("test_fibers_of_the_app_that_wait_under_#{engine}") do
      app = ->(env) { [200, {}, [NESTED.fetch(env["PATH_INFO"].delete_prefix("/").tr("_", " ")).last.call.to_s]] }
      serving(app, engine: engine) do |server|
        2.times do
          NESTED.each { |name, (answer, _)| assert_equal answer, get(server, "/#{name.tr(" ", "_")}").body, name }
        end
      end
    end
  end

  def test_while_a_fiber_of_the_app_waits_others_are_answered
    queue = Thread::Queue.new
    waiting = Thread::Queue.new
    app = lambda do |env|
      next [200, {}, [queue.push("pushed") && "done"]] if env["PATH_INFO"] == "/push"

      [200, {}, [Fiber.new { "#{Fiber.new { waiting.push(true) && queue.pop }.resume}!" }.resume]]
    end
    serving(app, engine: "fibers") do |server|
      answers = Array.new(3) { Thread.new { get(server).body } }
      3.times { waiting.pop }
      3.times { assert_equal "done", get(server, "/push").body }
      assert_equal ["pushed!"] * 3, answers.map(&:value)
      assert_equal 0, server.stats[:fibers]
    end
  end

  # Nobody waits for a fiber that Fiber.schedule began, and it may be raised into, or ended, from another one.
  def test_fibers_that_the_app_schedules
    app = lambda do |_env|
      told = ["before"]
      fiber = Fiber.schedule do
        told << "begun"
        Fiber.new { sleep }.resume
      rescue RuntimeError => error
        told << error.message
        sleep(0.001) && told << "ended"
      end
      told << "after"
      Fiber.schedule { told << "at once" }
      Fiber.new { fiber.raise("raised") }.resume
      sleep 0.001 while fiber.alive?
      [200, {}, [told.join(", ")]]
    end
    serving(app, engine: "fibers") do |server|
      2.times { assert_equal "before, begun, after, at once, raised, ended", get(server).body }
    end
  end

  # Ruby returns from a fiber that ends to the first fiber of the thread.
  def test_the_engine_runs_in_another_fiber_than_the_first
    app = ->(_env) { [200, {}, [Fiber.new { sleep(0.001) && "slept" }.resume]] }
    server = Cuttle::Server.new(app, engine: "fibers").tap(&:prepare)
    thread = Thread.new { Fiber.new { server.run }.resume }
    2.times { assert_equal "slept", get(server).body }
  ensure
    server.stop_soon
    thread.join
  end

  # epoll doesn't take regular files. Ruby waits for one all the same, when the kernel wrote less than it was given.
  def test_a_regular_file_is_always_ready
    app = ->(_env) { [200, {}, [File.open(__FILE__) { |file| file.wait_readable.equal?(file).to_s }]] }
    serving(app, engine: "fibers") { |server| assert_equal "true", get(server).body }
  end

  # Ruby 4.0 asks for it where somebody closes what a fiber waits for, in whatever thread.
  def test_a_fiber_that_waits_can_be_interrupted
    waiting = Thread::Queue.new
    app = lambda do |env|
      scheduler = Fiber.scheduler
      case env["PATH_INFO"]
      when "/wait" then next [200, {}, [wait_for_nothing(waiting)]]
      when "/here" then scheduler.fiber_interrupt(waiting.pop, IOError.new("closed"))
      when "/elsewhere" then Thread.new { scheduler.fiber_interrupt(waiting.pop, IOError.new("closed")) }.join
      end
      [200, {}, ["done"]]
    end
    serving(app, engine: "fibers") do |server|
      %w[/here /elsewhere].each do |path|
        answer = Thread.new { get(server, "/wait").body }
        assert_equal "done", get(server, path).body
        assert_equal "closed", answer.value
      end
      assert_equal "done", get(server).body
    end
  end

  # The fiber waited for a copy of the socket, which stayed open: the client went on waiting for the rest.
  def test_a_client_sees_the_end_of_a_response_whose_fiber_was_interrupted
    writer = nil
    app = lambda do |env|
      next [200, {}, [writer.raise("interrupted").to_s]] if env["PATH_INFO"] == "/interrupt"

      writer = Fiber.current
      [200, {}, Enumerator.new { |parts| loop { parts << ("x" * 100_000) } }]
    end
    GC.disable # it would close the copy
    capture_io do
      serving(app, engine: "fibers", write_ahead: 200_000) do |server|
        WireClient.open(server.port, receive_buffer: 4_096) do |reader|
          reader.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").fill
          assert_equal 200, get(server, "/interrupt").status
          reader.hurry.rest
          assert_includes %i[closed reset], reader.ending
        end
      end
    end
  ensure
    GC.enable
  end

  # Fiber-locals are those of a pool, but storage is each request's own (Ruby 3.2).
  def test_a_request_finds_no_storage_of_another
    skip "Ruby #{RUBY_VERSION} has no fiber storage" unless Fiber.respond_to?(:[])
    app = lambda do |_env|
      found = [Fiber[:user], Fiber[:inherited], Fiber.current.object_id].inspect
      Fiber[:user] = Fiber[:new] = "somebody"
      Fiber[:inherited] = nil
      [200, {}, [found]]
    end
    Fiber[:inherited] = 1
    serving(app, engine: "fibers") do |server|
      found = Array.new(3) { get(server).body }
      assert_match(/\A\[nil, 1, \d+\]\z/, found.first)
      assert_equal 1, found.uniq.length, found.inspect
    end
  ensure
    Fiber[:inherited] = nil if Fiber.respond_to?(:[])
  end

  def test_a_fiber_serves_one_request_after_the_other
    app = ->(_env) { [200, {}, [Fiber.current.object_id.to_s]] }
    serving(app, engine: "fibers") { |server| assert_equal 1, Array.new(3) { get(server).body }.uniq.length }
  end

  # An app that keeps the fiber of a request can resume it, or end it, when that request is over.
  def test_a_fiber_that_the_app_kept_takes_no_harm
    kept = nil
    app = lambda do |env|
      case env["PATH_INFO"]
      when "/keep" then kept = Fiber.current
      when "/resume" then Fiber.new { kept.resume }.resume # in another fiber, since +kept+ may be this one
      when "/end" then Fiber.new { kept.raise("ended") }.resume
      when "/kill" then kept.equal?(Fiber.current) || kept.kill
      end
      [200, {}, ["answered"]]
    rescue FiberError, RuntimeError, NoMethodError # Ruby 3.2 and older have no kill
      [200, {}, ["refused"]]
    end
    serving(app, engine: "fibers") do |server|
      assert_equal "answered", get(server, "/keep").body
      in_app = Thread.new { get(server, "/nap").body }
      %w[/resume /end /resume /nap /kill /nap].each do |path|
        assert_match(/answered|refused/, get(server, path).body, path)
      end
      assert_equal "answered", in_app.value
    end
  end

  # The app gets the error. The thread that had looked the name up printed it as well.
  def test_a_name_that_is_not_found_is_not_reported
    app = lambda do |_env|
      [200, {}, Addrinfo.getaddrinfo("#{"a" * 64}.invalid", 80).map(&:ip_address)]
    rescue SocketError
      [200, {}, ["not found"]]
    end
    _, errors = capture_io do
      serving(app, engine: "fibers") { |server| assert_equal "not found", get(server).body }
    end
    assert_empty errors
  end

  # It blocked the engine's thread, so no request was answered.
  def test_select_lets_others_go_on
    skip_without_a_hook_for_select
    IO.pipe do |input, output|
      asking = Thread::Queue.new
      app = lambda do |env|
        next [200, {}, [output.write("x").to_s]] unless env["PATH_INFO"] == "/select"

        asking << true
        [200, {}, [(select([input], nil, [input]) == [[input], [], []]).to_s]]
      end
      serving(app, engine: "fibers") do |server|
        answer = Thread.new { get(server, "/select").body }
        asking.pop
        assert_equal "1", get(server, "/write").body
        assert_equal "true", answer.value
      end
    end
  end

  def test_select_returns_and_raises_what_it_does_elsewhere
    IO.pipe do |input, output|
      output.write("one\ntwo\n")
      buffered = input.dup.tap(&:gets)
      output.write("three\n")
      closed = File.open(__FILE__).tap(&:close)
      selects = [[[input]], [[input], nil, nil, 0], [[input], [], [], 0.01], [nil, nil, nil, 0.01], [[input], [output]],
                 [[buffered], nil, nil, nil], [[closed]], [[input], [closed], nil, 0], [[1]], [nil, nil, nil, -1]]
      outcomes = lambda do |_env = nil|
        [200, {}, [selects.map { |arguments| select(*arguments).inspect rescue $!.class }.join("\n")]]
      end
      serving(outcomes, engine: "fibers") { |server| assert_equal outcomes.call[2].join, get(server).body }
    end
  end

  # Ruby 4.0 and newer.
  def test_select_without_an_end
    skip "Ruby #{RUBY_VERSION} refuses that" if RUBY_VERSION < "4"

    IO.pipe do |input, output|
      app = ->(_env) { [200, {}, [select([input], [output], nil, Float::INFINITY).map(&:length).to_s]] }
      serving(app, engine: "fibers") { |server| assert_equal "[0, 1, 0]", get(server).body }
    end
  end

  def test_select_ends_with_a_timeout
    skip_without_a_hook_for_select
    IO.pipe do |input, _output|
      begun = nil # the threads that the app began; those of earlier tests may end at any moment
      app = lambda do |_env|
        before = Thread.list
        Timeout.timeout(0.01) { select([input]) }
      rescue Timeout::Error
        begun = Thread.list - before
        [200, {}, ["timed out"]]
      end
      serving(app, engine: "fibers") do |server|
        assert_equal "timed out", get(server).body
        eventually("the end of the thread that waited") { begun.none?(&:alive?) }
      end
    end
  end

  def test_select_in_a_forked_child
    IO.pipe do |input, output|
      app = lambda do |_env|
        child = Process.fork do
          nothing = select([input], nil, nil, 0.01)
          output.write("x")
          exit!(nothing.nil? && select([input]) == [[input], [], []] ? 7 : 1)
        end
        [200, {}, [Process.wait2(child).last.exitstatus.to_s]]
      end
      serving(app, engine: "fibers") { |server| assert_equal "7", get(server).body }
    end
  end

  # One below 0 was over at once, and NaN ended the engine.
  HttpCase::CORES.each do |core|
    define_method("test_durations_are_those_of_threads_under_the_core_#{core}") do
      app = ->(env) { [200, {}, [outcome(*env["QUERY_STRING"].split("&").map(&:to_i))]] }
      serving(app, engine: "fibers", core: core) do |server|
        WAITS.length.times.to_a.product(DURATIONS.length.times.to_a) do |wait, duration|
          assert_equal outcome(wait, duration), get(server, "/?#{wait}&#{duration}").body,
                       "#{WAITS.keys[wait]} #{DURATIONS[duration].inspect}"
        end
      end
    end

    # The engine ended with the last connection.
    define_method("test_a_stop_waits_for_a_callback_that_reads_under_the_core_#{core}") do
      IO.pipe do |input, output|
        waiting = Thread::Queue.new
        read = nil
        callback = lambda do
          waiting << true
          read = input.gets
        end
        app = ->(env) { [200, {}, [(env["rack.after_reply"] << callback) && "hello"]] }
        server = Cuttle::Server.new(app, engine: "fibers", core: core).start
        port = server.port
        assert_equal "hello", get(server).body
        waiting.pop
        stop = Thread.new { server.stop }
        eventually("the end of the listener") { RawClient.refused?(port) }
        output.puts("read")
        stop.join
        assert_equal "read\n", read
      end
    end

    # Other timers must still fire.
    define_method("test_limits_that_are_no_times_under_the_core_#{core}") do
      waiting = Thread::Queue.new
      thread = nil
      app = lambda do |env|
        next [200, {}, [sleep(0.001) && "slept"]] if env["PATH_INFO"] == "/sleep"

        thread = Thread.new { waiting.pop }
        [Float::NAN, Float::INFINITY, 1e300].each { |limit| Fiber.schedule { thread.join(limit) rescue $!.class } }
        Timeout.timeout(Float::NAN) { sleep(0.001) } rescue $!.class
        [200, {}, [Timeout.timeout(0) { sleep(0.001) && "no timeout" }]]
      end
      serving(app, engine: "fibers", core: core) do |server|
        assert_equal "no timeout", get(server).body
        2.times { assert_equal "slept", get(server, "/sleep").body }
        waiting.close
        thread.join # before the fibers that wait for it are gone: Ruby 3.1 would not notice that
      end
    end
  end

  private

  # What comes of waiting for a duration.
  def outcome(wait, duration)
    WAITS.values[wait].call(DURATIONS[duration]).to_s
  rescue RangeError # FloatDomainError is one
    "RangeError"
  rescue StandardError => error
    error.class.name
  end

  def skip_without_a_hook_for_select
    skip "Ruby #{RUBY_VERSION} asks no scheduler" if RUBY_VERSION < "3.2"
  end

  def select(...) = IO.select(...)

  # What interrupts it.
  def wait_for_nothing(waiting)
    waiting << Fiber.current
    IO.pipe { |input, _output| input.read(1) }
  rescue IOError => error
    error.message
  end
end

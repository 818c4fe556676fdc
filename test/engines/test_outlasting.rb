# frozen_string_literal: true

require "test_helper"

# An engine outlives what an app raises, wherever that is and whatever it is: the client gets a 500 or a connection that
# is cut, no thread is lost and no connection stays.
class TestOutlasting < Minitest::Test
  include Serving

  PLAIN = { "content-type" => "text/plain" }.freeze

  ERRORS = {
    "exception" => -> { raise Exception, "on purpose" }, "not_implemented" => -> { raise NotImplementedError },
    "no_memory" => -> { raise NoMemoryError }, "interrupt" => -> { raise Interrupt }, "exit" => -> { exit(3) },
    "abort" => -> { Kernel.exit(1) }, "throw" => -> { throw :nowhere }, "stack" => -> { TestOutlasting.deeper },
    "thread_exit" => -> { Thread.exit }
  }.freeze

  # An error whose own methods fail.
  class Broken < StandardError
    def message = raise(NotImplementedError, "a message that fails")
  end

  # A body that runs a Proc, and another one when it is closed.
  Body = Struct.new(:run, :ending) do
    def each(&part) = run.call(part)
    def close = ending&.call
  end

  PLACES = {
    "app" => ->(_, bad) { bad.call },
    "headers" => ->(_, bad) { [200, { "x" => with(Object.new, :to_s, bad) }, ["x"]] },
    "to_ary" => ->(_, bad) { [200, PLAIN.dup, with(Body.new(->(*) {}), :to_ary, bad)] },
    "each" => ->(_, bad) { [200, PLAIN.dup, Body.new(->(part) { part.call("some") && bad.call })] },
    "close" => ->(_, bad) { [200, PLAIN.dup, Body.new(->(part) { part.call("some") }, bad)] },
    "finished" => ->(env, bad) { (env["rack.response_finished"] << ->(*) { bad.call }) && [200, PLAIN.dup, ["some"]] },
    "after_reply" => ->(env, bad) { (env["rack.after_reply"] << bad) && [200, PLAIN.dup, ["some"]] },
    "list" => ->(env, bad) { list(env, bad) && [200, PLAIN.dup, ["some"]] },
    "list_of_an_error" => ->(env, bad) { list(env, bad) && bad.call },
    "hijack" => ->(_, bad) { [200, PLAIN.merge("rack.hijack" => ->(_) { bad.call }), []] },
    "upgrade" => ->(_, bad) { [101, { "upgrade" => "x", "connection" => "upgrade" }, ->(_) { bad.call }] },
    "stream" => ->(_, bad) { [200, PLAIN.dup, ->(stream) { stream.write("some") && bad.call }] },
    "closed_stream" => ->(_, bad) { [200, PLAIN.dup, ->(stream) { stream.close || bad.call }] }
  }.freeze

  # Callbacks that the app made, and that can't be enumerated.
  def self.list(env, bad) = env["rack.after_reply"] = with(Object.new, :each, bad)

  # +object+, with a method of that name.
  def self.with(object, name, method) = object.tap { object.define_singleton_method(name, &method) }

  def self.deeper = deeper + 1

  def setup
    @errors = $stderr
    $stderr = StringIO.new
  end

  def teardown
    $stderr = @errors
  end

  Serving::ENGINES.each do |engine|
    define_method("test_it_goes_on_under_#{engine}") do
      outlasting(engine) do |server|
        PLACES.each_key do |place|
          ERRORS.each_key do |error|
            # There the engine has one thread, the caller's, and dies with it.
            next if error == "thread_exit" && !Cuttle::Engines.traits(engine).pooled?

            2.times { assert_ends(server, "/#{place}/#{error}") }
          end
        end
      end
    end

    define_method("test_an_error_that_fails_itself_under_#{engine}") do
      outlasting(engine) do |server|
        2.times { assert_equal 500, get(server, "/broken").status }
      end
    end
  end

  # Ruby lets what a fiber raises out where it was resumed, and that is the engine's loop.
  def test_fibers_that_the_app_made
    app = lambda do |_|
      ERRORS.each { |name, bad| Fiber.schedule { sleep(0.001) && bad.call } unless name == "thread_exit" }
      sleep 0.02
      [200, PLAIN.dup, ["slept"]]
    end
    serving(app, engine: "fibers") { |server| 3.times { assert_equal "slept", get(server).body } }
  end

  private

  def outlasting(engine)
    app = lambda do |env|
      place, error = env["PATH_INFO"].delete_prefix("/").split("/")
      next [200, PLAIN.dup, ["hello"]] unless place
      raise Broken if place == "broken"

      PLACES.fetch(place).call(env, ERRORS.fetch(error))
    end
    serving(app, engine: engine) do |server|
      assert_equal "hello", get(server).body
      threads = server.stats[:threads]
      yield server
      assert_equal "hello", get(server).body
      eventually("as many threads as before, and no connection: #{server.stats}") do
        server.stats.values_at(:connections, :busy, :threads) == [0, 0, threads]
      end
    end
  end

  # With a 500, complete or not, or as if nothing had happened, but with an end; and the server continues to serve.
  def assert_ends(server, path)
    octets = WireClient.open(server.port) do |client|
      client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUpgrade: x\r\n\r\n").rest
    end
    assert_match(%r{\A(HTTP/1\.1 (500|200|101) |\z)}, octets, path)
    assert_equal "hello", get(server).body, path
  end
end

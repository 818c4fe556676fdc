# frozen_string_literal: true

require "stringio"
require "test_helper"

# Whatever an app makes of its env, the server ends the request in order: response, callbacks, input, connection.
# (test/telemetry has the log.)
class TestChangedEnv < HttpCase
  LISTS = %w[rack.response_finished rack.after_reply].freeze

  # A default_proc is asked for what the app has deleted.
  CHANGES = {
    "a default_proc that raises" => ->(env) { env.default_proc = ->(*) { raise "on purpose" } },
    "a default_proc that adds" => ->(env) { env.default_proc = ->(hash, key) { hash[key] = Object.new } },
    "a default" => ->(env) { env.default = 3 },
    "other values" => ->(env) { env.each_key { |key| env[key] = 3 unless LISTS.include?(key) } },
    "nothing else" => ->(env) { env.select! { |key, _| LISTS.include?(key) } },
    "frozen" => :freeze.to_proc
  }.freeze

  # Ended an engine, or was a 500 under the core in Ruby.
  LISTS.each do |list|
    CHANGES.each do |name, change|
      define_method("test_#{name.tr(" ", "_")}_and_callbacks_of_#{list}") do
        calls = Queue.new
        bodies.each do |body|
          app do |env|
            env[list] << ->(*) { calls << list }
            env.delete((LISTS - [list]).first)
            change.call(env)
            [200, {}, body]
          end
          assert_answered_twice
          eventually("two calls") { calls.size == 2 }
          calls.clear
        end
      end
    end
  end

  # Nobody learned of the error.
  def test_an_error_is_reported_though_rack_errors_is_no_stream
    closed = StringIO.new.tap(&:close)
    [->(env) { env["rack.errors"] = 3 }, ->(env) { env["rack.errors"] = closed }, ->(env) { env.delete("rack.errors") },
     ->(env) { env.clear.default_proc = ->(*) { raise "another" } }].each do |change|
      app { |env| change.call(env) && raise("on purpose") }
      said = said_meanwhile { assert_equal 500, open_client { |client| client.ask(request).status } }
      assert_equal 1, said.scan("on purpose (RuntimeError)").size, said
    end
  end

  # The socket was lost.
  def test_a_frozen_env_and_a_hijack
    app do |env|
      env.freeze["rack.hijack"].call.then { |io| io.write("hello\r\n") && io.close }
      [200, {}, []]
    end
    open_client { |client| assert_equal "hello\r\n", client.write(request).to_end }
  end

  # What is no key of them was taken for the app's.
  def test_headers_with_a_default
    [Hash.new("5"), Hash.new { |headers, name| headers[name] = [] }, Hash.new { raise "on purpose" }].each do |headers|
      [*bodies, Bodies::OfFile.new("/nonexistent", "hello")].each do |body|
        app { [200, headers.merge("x-mine" => "yes"), body] }
        assert_answered_twice
      end
    end
  end

  private

  def bodies
    [["hello"], Bodies::Parts.new("hello"), Bodies::Streaming.new { |stream| stream.write("hello") && stream.close }]
  end

  # On one connection.
  def assert_answered_twice
    open_client do |client|
      2.times do
        response = client.ask(request("POST / HTTP/1.1", "Content-Length: 3", body: "abc"))
        assert_equal [200, "hello"], [response.status, response.body]
      end
    end
  end

  # What is written to standard error meanwhile.
  def said_meanwhile
    before, $stderr = $stderr, StringIO.new
    yield
    $stderr.string
  ensure
    $stderr = before
  end
end

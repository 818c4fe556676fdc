# frozen_string_literal: true

require "test_helper"
require "rack"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/support/bodies"

# What benchmark/bodies measures: its app, the canned responder with bodies, and loads with a request of their own.
class TestBenchmarkBodies < Minitest::Test
  Bodies = Bench::Bodies
  Testbed = Struct.new(:services_cpu, :database_connections) do
    def load_options(_configuration, load, _cores)
      { connections: load.connections, keep_alive: true, timeout: 5 }
    end
  end

  def test_the_app_answers_json_of_the_right_size
    Bodies::SIZES.each do |path, octets|
      response = app.get(path)
      assert_equal [200, octets], [response.status, response.body.bytesize]
      assert_equal Bodies::TOPIC, JSON.parse(response.body)["topics"].last
    end
  end

  def test_the_app_parses_posts_and_a_get_has_an_answer_of_the_same_length
    json = app.post("/json", input: Bodies.json(1_024), "CONTENT_TYPE" => "application/json").body
    form = app.post("/form", input: Bodies::FORM, "CONTENT_TYPE" => "application/x-www-form-urlencoded").body
    assert_equal ['{"parsed":0007}', '{"parsed":0005}'], [json, form]
    assert_equal ['{"parsed":0000}'] * 2, [app.get("/json").body, app.get("/form").body]
    assert_raises(JSON::ParserError) { app.post("/json", input: Bodies.json(1_024)[0, 500]) }
  end

  def test_ten_headers
    assert_equal 10, app.get("/headers").headers.length
    assert_equal 10, { "Host" => "a", **Bodies::BROWSER }.length
  end

  def test_canned_reads_a_whole_body_before_it_answers
    octets = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nread"
    post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n#{"." * 10_000}" # more than one read takes
    canned(octets, bodies: true) do |server|
      text = Socket.tcp("127.0.0.1", server.port) do |socket|
        2.times do
          socket.write(post)
          assert_equal octets, socket.readpartial(1_000)
        end
        socket.close_write
        socket.read
      end
      assert_empty text
    end
  end

  def test_canned_sends_what_the_kernel_does_not_take_at_once
    body = Random.new(1).bytes(1_000_000)
    [nil, Bench::Canned::EDGE].each do |model|
      canned("HTTP/1.1 200 OK\r\ncontent-length: #{body.bytesize}\r\n\r\n#{body}", model: model) do |server|
        2.times { assert_equal body, server.get("/").body }
      end
    end
  end

  def test_a_trial_sends_its_request
    request = { headers: [%w[Content-Type application/json]], body: Bodies.json(1_024) }
    sent = []
    generate = lambda do |url, **options|
      sent << options.slice(:headers, :body)
      Cuttle::Load.run(url, **options.except(:tester))
    end
    run = served do |server, cores|
      load = Cuttle::Lab::Results::LoadSpec.new("connections" => 2, "path" => "/json", "octets" => 15)
      plan = Cuttle::Lab::Plan::Declared.new([]).plan(seed: 1, rounds: 1, duration: 0.2, warmup: 0.2)
      Bench::Trial.new("post", Bench::Request, [request])
                  .call(server: server, load: load, testbed: Testbed.new(0.0), plan: plan, cores: cores,
                        generator: generate, speed: Cuttle::Lab::Machine::CoreSpeed.new(cores, look: ->(_core) {}))
                  .run(nil, Cuttle::Lab::Network::Routes::Route.new(server.url))
    end
    assert_equal [true, 0], [run["valid"], run["errors"].values.sum], run["reasons"].to_s
    assert_equal [request], sent.uniq
  end

  private

  def app
    @app ||= Rack::MockRequest.new(Rack::Lint.new(Array(Rack::Builder.parse_file(Bench.app("bodies"))).first))
  end

  def canned(response, model: nil, **options, &block)
    canned = Bench::Canned.new(response: response, **options)
    skip canned.unavailable if canned.unavailable

    Bench.serve(canned, Bench.cores.server, model: model, &block)
  end

  # Yields this checkout with the app, and the cores.
  def served
    cores = Bench.cores
    peer = Bench::Checkout.new("bodies", Bench::ROOT, ["-t", "2:2"])
    Bench.serve(peer, cores.server, app: Bench.app("bodies"), keep_alive: true) { |server| yield server, cores }
  end
end

# frozen_string_literal: true

require_relative "real"
require "json"
require "zlib"

# The plugins statsd and opentelemetry with the real gems: what arrives at a socket, of a server with and without
# workers.
class MetricGemsTest < Minitest::Test
  include Eventually
  include TemporaryDirectory

  APP = Real.app("metrics", "test/real/metrics/config.ru", gemfile: "test/real/metrics/Gemfile")

  # Writes what it is given to export as lines of JSON.
  EXPORTER = <<~RUBY
    exporter = Object.new
    def exporter.export(metrics, timeout:)
      File.open(ENV.fetch("EXPORTED"), "a") do |file|
        metrics.each { |metric| file.puts(JSON.generate(metric.to_h.except(:resource, :instrumentation_scope)
          .merge(resource: metric.resource.attribute_enumerator.to_h, data_points: metric.data_points.map(&:to_h)))) }
      end
      raise "no timeout" unless timeout
    end
  RUBY

  def setup
    skip APP.missing if APP.missing
  end

  def test_statsd
    each_way do |way|
      receiving do |socket, address|
        serve(way, "plugin :statsd, every: 0.1, address: #{address.inspect}, prefix: 'shop'") do |server|
          requests = 3.times.map { Net::HTTP.get(URI(server.url)) }.length
          lines = []
          eventually("all requests: #{lines.last(50)}") do
            lines.concat(received(socket))
            lines.sum { |line| line[/\Ashop\.cuttle\.requests:(\d+)\|c\z/, 1].to_i } == requests
          end
          tags = way.workers.zero? ? "" : "|#worker:0"
          eventually("a gauge") { lines.concat(received(socket)).include?("shop.cuttle.threads_busy:0|g#{tags}") }
          quantile = /\Ashop\.cuttle\.request_app_seconds\.p99:[\d.e-]+\|g\z/
          eventually("a quantile") { lines.concat(received(socket)).any?(quantile) }
          assert_empty lines.grep(/cuttle/).grep_v(/\Ashop\.cuttle\.[a-z_.]+(p\d\d)?:[\d.e+-]+\|[cg](\|#[\w:,. -]+)?\z/)
        end
      end
    end
  end

  def test_statsd_without_tags
    receiving do |socket, address|
      environment = { "STATSD_IMPLEMENTATION" => "statsd" }
      serve(Real::Way.new("hybrid", 2), "plugin :statsd, every: 0.1, address: #{address.inspect}", environment) do
        lines = []
        eventually("a gauge of the second worker: #{lines.last(50)}") do
          lines.concat(received(socket)).include?("cuttle.threads_busy.worker.1:0|g")
        end
      end
    end
  end

  # The gem's own client: it sends in production.
  def test_statsd_by_its_variables
    receiving do |socket, address|
      environment = { "STATSD_ADDR" => address, "STATSD_ENV" => "production", "STATSD_PREFIX" => "own" }
      serve(Real::Way.new("hybrid", 0), "plugin :statsd, every: 0.1", environment) do
        eventually("a gauge") { received(socket).any?(/\Aown\.cuttle\.ready:1\|g\z/) }
      end
    end
  end

  def test_opentelemetry
    each_way do |way|
      environment = { "EXPORTED" => "#{@directory}/exported", "OTEL_SERVICE_NAME" => "shop" }
      serve(way, "#{EXPORTER}\nplugin :opentelemetry, every: 0.1, exporter: exporter", environment) do |server|
        Net::HTTP.get(URI(server.url))
        eventually("a request (#{server.log})") { last("cuttle.requests")&.dig("data_points", 0, "value") == 1 }
        assert_counter last("cuttle.requests")
        eventually("the histogram") { last("cuttle.request_app")&.dig("data_points", 0, "count") == 1 }
        assert_histogram last("cuttle.request_app")
      end
      FileUtils.rm_f("#{@directory}/exported")
    end
  end

  # The gem's exporter asks a collector.
  def test_opentelemetry_by_otlp
    collector = TCPServer.new("127.0.0.1", 0)
    bodies = Queue.new
    thread = Thread.new { loop { collect(collector.accept, bodies) } }
    environment = { "OTEL_EXPORTER_OTLP_ENDPOINT" => "http://127.0.0.1:#{collector.addr[1]}" }
    serve(Real::Way.new("hybrid", 1), "plugin :opentelemetry, every: 0.1", environment) do |server|
      body = eventually("a report (#{server.log})") { bodies.pop unless bodies.empty? }
      %w[cuttle.requests cuttle.threads_busy worker].each { |text| assert_includes body, text }
    end
  ensure
    thread&.kill&.join
    collector&.close
  end

  # Nobody listens there.
  def test_what_can_not_be_sent_disturbs_nobody
    config = "plugin :statsd, every: 0.1, address: '127.0.0.1:1'\n" \
             "plugin :opentelemetry, every: 0.1, exporter: Object.new"
    serve(Real::Way.new("hybrid", 1), config) do |server|
      eventually("the report") { server.log.include?("cuttle: metrics: undefined method") }
      assert_equal "hello", Net::HTTP.get(URI(server.url))
      assert_equal 0, server.stop.exitstatus
      assert_equal 1, server.log.scan("undefined method").length
    end
  end

  private

  def assert_counter(metric)
    assert_equal ["1", "observable_counter", true, "cumulative"],
                 metric.values_at("unit", "instrument_kind", "is_monotonic", "aggregation_temporality")
    assert_equal %w[shop ruby], metric["resource"].values_at("service.name", "telemetry.sdk.language")
  end

  def assert_histogram(metric)
    assert_equal %w[s histogram cumulative],
                 metric.values_at("unit", "instrument_kind", "aggregation_temporality")
    counts, bounds = metric["data_points"].first.values_at("bucket_counts", "explicit_bounds")
    assert_equal [bounds.length + 1, 1], [counts.length, counts.sum]
  end

  def each_way(&block)
    [0, 2].map { |workers| Real::Way.new("hybrid", workers) }.each(&block)
  end

  # A server with that configuration file.
  def serve(way, config, environment = {})
    File.write("#{@directory}/cuttle.rb", config)
    app = APP.dup.tap { |each| each.flags = ["-C", "#{@directory}/cuttle.rb"] }
    server = Real::Server.new(app, way, environment)
    server.wait_until_ready
    yield server
  ensure
    server&.kill
  end

  def receiving
    socket = UDPSocket.new
    socket.bind("127.0.0.1", 0)
    yield socket, "127.0.0.1:#{socket.addr[1]}"
  ensure
    socket&.close
  end

  # The lines that have arrived.
  def received(socket)
    lines = []
    while (datagram = socket.recvfrom_nonblock(65_536, exception: false)).is_a?(Array)
      lines.concat(datagram.first.split("\n"))
    end
    lines
  end

  # The last report of a metric.
  def last(name)
    path = "#{@directory}/exported"
    return unless File.exist?(path)

    File.readlines(path).reverse_each do |line|
      metric = JSON.parse(line)
      return metric if metric["name"] == name
    rescue JSON::ParserError
      next # it is being written
    end
    nil
  end

  # Answers one connection's reports, and keeps their bodies.
  def collect(socket, bodies)
    while (first = socket.gets)
      fields = {}
      while (line = socket.gets("\r\n", chomp: true)) && !line.empty?
        name, value = line.split(": ", 2)
        fields[name.downcase] = value
      end
      body = socket.read(fields.fetch("content-length").to_i)
      bodies << Zlib.gunzip(body) if first.start_with?("POST /v1/metrics ")
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    end
  rescue SystemCallError
    nil
  ensure
    socket.close
  end
end

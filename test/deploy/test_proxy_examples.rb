# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"

# The examples for nginx, HAProxy and logrotate: the program reads them, and the two proxies pass requests on. Only the
# paths are others.
class TestProxyExamples < Minitest::Test
  include Serving
  include TemporaryDirectory

  DEPLOY = "#{ROOT}/deploy".freeze

  APP = <<~RUBY
    require "json"
    run(lambda do |env|
      names = %w[HTTP_HOST HTTP_X_FORWARDED_PROTO HTTP_X_REQUEST_ID HTTP_X_REQUEST_START HTTP_UPGRADE REQUEST_METHOD
                 cuttle.queue_time]
      [200, { "content-type" => "application/json" }, [JSON.generate(names.to_h { |name| [name, env[name]] })]]
    end)
  RUBY

  def setup
    File.write("#{@directory}/config.ru", APP)
    @front = "#{@directory}/front.sock"
  end

  def test_nginx
    configuration = <<~TEXT
      #{"user root;" if Process.euid.zero?} error_log stderr; pid #{@directory}/pid; daemon off;
      events { worker_connections 64; }
      http {
        access_log off;
        #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{@directory}/#{name};" }.join(" ")}
        #{example("nginx.conf", "listen 80;" => "listen unix:#{@front};")}
      }
    TEXT
    through(["nginx", "-p", @directory, "-c", write("nginx.conf", configuration)], "-t") do |env|
      assert_equal ["app.example.com", "http", "GET"],
                   env.values_at("HTTP_HOST", "HTTP_X_FORWARDED_PROTO", "REQUEST_METHOD")
      assert_match(/\A\h{32}\z/, env["HTTP_X_REQUEST_ID"])
      assert_nil env["HTTP_UPGRADE"]
    end
  end

  def test_haproxy
    configuration = example("haproxy.cfg", "bind :80\n" => "bind unix@#{@front}\n")
    through(["haproxy", "-f", write("haproxy.cfg", configuration)], "-c") do |env|
      assert_equal ["app.example.com", "http", "GET"],
                   env.values_at("HTTP_HOST", "HTTP_X_FORWARDED_PROTO", "REQUEST_METHOD")
    end
  end

  def test_logrotate
    logs = %w[out err].map { |name| ["/srv/app/log/#{name}.log", "#{@directory}/#{name}.log"] }.to_h
    configuration = example("logrotate.conf", "  su app app\n" => "", **logs)
    out, status = Open3.capture2e(program("logrotate"), "--debug", "--state", "#{@directory}/state",
                                  write("logrotate.conf", configuration))
    assert_predicate status, :success?, out
    assert_match(/considering log #{@directory}\/out.log\n.*considering log #{@directory}\/err.log/m, out)
    refute_match(/error|^warning: (?!logrotate in debug mode)/i, out)
  end

  private

  # The example with other +texts+ in place of its own, each of which is there once.
  def example(name, texts)
    text = File.read("#{DEPLOY}/#{name}").sub("unix:/run/app/cuttle.sock", "unix:#{@directory}/app.sock")
               .sub("unix@/run/app/cuttle.sock", "unix@#{@directory}/app.sock")
    texts.reduce(text) do |all, (old, new)|
      assert_equal 1, all.scan(old).length, old
      all.sub(old) { new }
    end
  end

  def write(name, text)
    "#{@directory}/#{name}".tap { |path| File.write(path, text, perm: 0o644) }
  end

  # Lets the program read its configuration with the option +check+; then runs it before a server, and yields what the
  # app sees of a request.
  def through(command, check)
    path = program(command.first)
    out, status = Open3.capture2e(path, *command.drop(1), check)
    assert_predicate status, :success?, out
    refute_match(/warn/i, out)
    serving_process("-b", "unix://#{@directory}/app.sock", chdir: @directory) do
      running(path, *command.drop(1)) { |program| yield answer(program) }
    end
  end

  def running(*command)
    program = Process.detach(spawn(*command, out: File::NULL, err: "#{@directory}/err"))
    yield program
  ensure
    Process.kill("TERM", program.pid) if program.alive?
    program.join
  end

  # What the app saw, once the program is ready. The time in the queue is counted from the proxy's clock.
  def answer(program)
    env = eventually("an answer through the proxy") do
      flunk File.read("#{@directory}/err") unless program.alive?
      ask
    end
    assert_match(/\At=(\d{10}\.\d{3}|\d{16})\z/, env["HTTP_X_REQUEST_START"])
    assert_operator env["cuttle.queue_time"], :>, 0
    env
  end

  def ask
    UNIXSocket.open(@front) do |socket|
      socket.write("GET / HTTP/1.1\r\nHost: app.example.com\r\nConnection: close\r\n\r\n")
      text = socket.read
      JSON.parse(text[/\{.*\}/]) if text.start_with?("HTTP/1.1 200")
    end
  rescue SystemCallError
    nil
  end

  def program(name)
    found = [*ENV["PATH"].split(":"), "/usr/sbin"].map { |path| "#{path}/#{name}" }
                                                  .find { |path| File.executable?(path) }
    found || skip("#{name} is not installed (Debian package #{name})")
  end
end

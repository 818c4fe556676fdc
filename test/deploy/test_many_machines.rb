# frozen_string_literal: true

require "test_helper"
require "open3"

# deploy/haproxy-many.cfg before three servers of this machine, under load: one is killed, one is stopped, both come
# back, all are restarted, and no request fails. Only the addresses and the interval of the checks are others.
class TestManyMachines < Minitest::Test
  include Serving
  include TemporaryDirectory

  SERVERS = %w[app1 app2 app3].freeze

  # 20 ms per request, so that there are always some in the app. The first request that is not a GET kills its server.
  APP = <<~RUBY
    run(lambda do |env|
      sleep 0.02
      unless env["REQUEST_METHOD"] == "GET" || File.exist?("killed")
        File.write("killed", "")
        Process.kill("KILL", Process.pid)
      end
      [200, {}, ["ok"]]
    end)
  RUBY

  def setup
    @program = Cuttle::Lab::Machine.program("haproxy") or skip "haproxy is not installed (Debian package haproxy)"
    File.write("#{@directory}/config.ru", APP)
    @ports = [:front, *SERVERS, *SERVERS.map { |name| "control of #{name}" }]
             .to_h { |name| [name, Cuttle::Lab::Servers::Ports.free] }
    @running = {}
    start(*SERVERS)
  end

  def teardown
    [@load, @haproxy].compact.each { |program| program.alive? && Process.kill("KILL", program.pid) && program.join }
    @running&.each_value { |server| server.stop("KILL") && server.finish }
    eventually("the workers' end") { @running.each_value.all? { |server| server.workers.empty? } } if @running
  end

  def test_no_request_fails
    start_haproxy("100ms")
    under_load do
      @running["app1"].stop("KILL")
      wait_for("DOWN", "app1")
      assert_predicate @running["app2"].stop("TERM"), :success? # only app3 serves now
      wait_for("DOWN", "app2")
      start("app1", "app2")
      wait_for("UP")
    end
  end

  # With workers, and all at once.
  def test_restarts_take_no_server_out
    @options = %w[-w 2]
    start(*SERVERS)
    eventually("all workers") { SERVERS.all? { |name| get(control(name), "/ready").status == 200 } }
    start_haproxy("100ms")
    under_load { %w[USR1 USR2].each { |signal| restart_all(signal) } }
    assert_equal %w[0 0 0], figures.values_at(*SERVERS).map { |row| row["chkdown"] }
  end

  # Which server gets a request is HAProxy's choice. No check says that one is gone, or that two are gone.
  def test_idempotent_requests_are_sent_again
    start_haproxy("1h")
    assert_equal 200, status("DELETE") # one server dies of it
    eventually("its end") { alive.length == 2 }
    @running[alive.first].stop("KILL")
    10.times { assert_equal 200, status("GET") }
  end

  def test_other_requests_are_not_sent_again
    start_haproxy("1h")
    assert_equal 502, status("POST") # a second server would live, and answer with 200
  end

  private

  # Until each server has two other workers.
  def restart_all(signal)
    before = @running.each_value.flat_map(&:workers)
    @running.each_value { |server| Process.kill(signal, server.pid) }
    eventually("other workers after #{signal}") do
      @running.each_value.map(&:workers).all? { |pids| pids.length == 2 && !pids.intersect?(before) }
    end
  end

  # Starts those servers, also where one has ended, or runs.
  def start(*names)
    names.each { |name| @running[name]&.finish }
    names.each { |name| @running[name] = ServingProcess.new(command(name), chdir: @directory) }
    names.each { |name| @running[name].wait_until_ready }
  end

  def command(name)
    ["#{ROOT}/exe/cuttle", "serve", *@options, "-b", "tcp://127.0.0.1:#{@ports[name]}", "--control-url",
     "tcp://127.0.0.1:#{@ports["control of #{name}"]}", "--control-token", "x", "--drain-delay", "1",
     "--drain-grace", "1"]
  end

  def alive = SERVERS.select { |name| @running[name].running? }

  # With that time between two checks of a server.
  def start_haproxy(interval)
    file = "#{@directory}/haproxy.cfg"
    File.write(file, "global\n  stats socket #{@directory}/stats mode 600\n#{configuration(interval)}")
    out, status = Open3.capture2e(@program, "-c", "-f", file)
    assert_predicate status, :success?, out
    refute_match(/warn/i, out)
    @haproxy = Process.detach(spawn(@program, "-db", "-q", "-f", file, %i[out err] => "#{@directory}/haproxy.out"))
    wait_for("UP")
  end

  # The example with our addresses. Each text is there once.
  def configuration(interval)
    texts = { "bind :80\n" => "bind 127.0.0.1:#{@ports[:front]}\n",
              "check port 9293 inter 1s fastinter 250ms" => "check inter #{interval}" }
    SERVERS.each.with_index(1) do |name, number|
      control = @ports["control of #{name}"]
      texts["192.0.2.#{number}:9292\n"] = "127.0.0.1:#{@ports[name]} port #{control}\n"
    end
    texts.reduce(File.read("#{ROOT}/deploy/haproxy-many.cfg")) do |all, (old, new)|
      assert_equal 1, all.scan(old).length, old
      all.sub(old) { new }
    end
  end

  # Until HAProxy says +state+ of those servers, by its checks.
  def wait_for(state, *names)
    names = SERVERS if names.empty?
    eventually("#{names.join(", ")} #{state}") do
      flunk File.read("#{@directory}/haproxy.out") unless @haproxy.alive?
      figures.values_at(*names).all? { |row| row && row["status"].start_with?(state) }
    end
  end

  # Server => what HAProxy's statistics have of it.
  def figures
    text = UNIXSocket.open("#{@directory}/stats") { |socket| socket.write("show stat\n") && socket.read }
    names, *rows = text.delete_prefix("# ").lines(chomp: true).map { |line| line.split(",", -1) }
    rows.map { |row| names.zip(row).to_h }.select { |row| row["pxname"] == "app" }.to_h { |row| [row["svname"], row] }
  rescue Errno::ENOENT, Errno::ECONNREFUSED
    {}
  end

  # The block's time, with GETs all along, before it and after it through each server. None fails.
  def under_load
    command = [*ServingProcess.ruby, "#{ROOT}/exe/cuttle", "load", front, "--rate", "100", "--duration", "10m",
               "--timeout", "60s", "--assert", "errors=0"]
    @load = Process.detach(spawn(*command, %i[out err] => "#{@directory}/load"))
    answers_from_each
    yield
    answers_from_each
    Process.kill("INT", @load.pid)
    assert_equal 130, @load.value.exitstatus
    refute_includes File.read("#{@directory}/load"), "assertion failed"
  end

  def answers_from_each
    before = answers
    eventually("answers from each server") do
      flunk File.read("#{@directory}/load") unless @load.alive?
      answers.all? { |name, count| count > before[name] }
    end
  end

  def answers = figures.slice(*SERVERS).transform_values { |row| row["hrsp_2xx"].to_i }

  # HAProxy takes the server with the fewest sessions, so one that it has not ended yet at the only server that lives
  # would have it try the dead ones again and again.
  def status(method)
    eventually("no session") { figures.slice(*SERVERS).each_value.all? { |row| row["scur"] == "0" } }
    client(front) do |client|
      client.write("#{method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").response(request: method).status
    end
  end

  def control(name) = "http://127.0.0.1:#{@ports["control of #{name}"]}"

  def front = "http://127.0.0.1:#{@ports[:front]}"
end

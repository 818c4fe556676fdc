# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# A process that serves without workers (-w 0) loads all of our code before its first request: later it may have no
# descriptor left to read a file with, or the gem's directory may have gone. With workers their mould loads it, once.
class TestLoading < Minitest::Test
  include Serving

  APP = <<~RUBY
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/each" then [200, {}, %w[a b].each]
      when "/stream" then [200, {}, ->(stream) { stream.write("a").then { stream.close } }]
      when "/file" then [200, {}, File.open(__FILE__)]
      when "/raise" then raise "on purpose"
      when "/wait" then sleep(0.1).then { [200, {}, [Cuttle.stats[:running].to_s]] }
      when "/finished"
        env["rack.response_finished"] = [proc {}]
        [200, {}, ["a"]]
      else [200, {}, [env["rack.input"].read]]
      end
    end)
  RUBY

  # What is loaded as a process begins to serve and as it ends, and as a mould begins to fork and as its worker ends.
  HOOKS = <<~RUBY
    after_booted { File.write("booted", $LOADED_FEATURES.join("\n")) }
    after_stopped { File.write("stopped", $LOADED_FEATURES.join("\n")) }
    before_worker_fork { File.write("mould", $LOADED_FEATURES.join("\n")) }
    before_worker_shutdown { File.write("worker", $LOADED_FEATURES.join("\n")) }
  RUBY

  REQUESTS = ["/ HTTP/1.1", "/static.txt HTTP/1.1", "/static.txt HTTP/1.1\r\nRange: bytes=0-0,2-2",
              *%w[/each /stream /file /raise /wait /finished].map { |path| "#{path} HTTP/1.1" }].freeze

  CORES = ENV["CUTTLE_SANITIZE"] ? %w[native] : Cuttle::Cores.names # the others have nothing for sanitizers

  def test_nothing_is_loaded_once_it_serves
    parsers = %w[pure recognizer].map { |parser| ["hybrid", "native", "--parser", parser] }
    [*Serving::ENGINES.product(CORES), *parsers].each do |engine, core, *flags|
      flags += auto(engine, core)
      assert_loads_nothing("booted", "stopped", "-w", "0", "--engine", engine, "--core", core, *flags) do |server|
        send_signals(server)
        eventually("another thread") { all_at_once(server, 4).any? { |threads| threads > 1 } } if flags.include?("auto")
      end
    end
  end

  # The engine ractors has no workers.
  def test_a_worker_loads_nothing
    Serving::ENGINES.product(CORES) do |engine, core|
      assert_loads_nothing("mould", "worker", "-w", "1", "--engine", engine, "--core", core, *auto(engine, core))
    end
  end

  private

  # Threads as they help, where that is possible.
  def auto(engine, core)
    core == "native" && Cuttle::Engines.traits(engine).adaptive? ? %w[-t auto --max-threads 8] : []
  end

  # Uses a server with these flags, and ends it. Nothing of ours was loaded between the two moments. Yields the server.
  def assert_loads_nothing(first, last, *flags)
    in_directory do |directory|
      serving_process("config.ru", "-C", "hooks.rb", "-v", "--docroot", "public", *flags, chdir: directory) do |server|
        eventually("the first moment") { File.exist?("#{directory}/#{first}") }
        use(server)
        yield server if block_given?
        assert_equal 0, server.stop.exitstatus
      end
      assert_empty ours("#{directory}/#{last}") - ours("#{directory}/#{first}"), flags.join(" ")
    end
  end

  def in_directory
    Dir.mktmpdir do |directory|
      File.write("#{directory}/config.ru", APP)
      File.write("#{directory}/hooks.rb", HOOKS)
      Dir.mkdir("#{directory}/public")
      File.write("#{directory}/public/static.txt", "static")
      yield directory
    end
  end

  def use(server)
    REQUESTS.each { |request| assert raw(server, "GET #{request}\r\nHost: a\r\nConnection: close\r\n\r\n") }
    body = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n#{"b" * 100_000}"
    assert_equal 100_000, request(server, body).body.bytesize
    assert_includes raw(server, "wrong\r\n\r\n"), " 400 "
  end

  def send_signals(server)
    Process.kill("PWR", server.pid)
    Process.kill("TTIN", server.pid)
    eventually("what signals do") { server.err.include?("there are no workers") && server.err.include?(" is at\n") }
  end

  # The number of threads that each of so many requests at a time finds.
  def all_at_once(server, count)
    Array.new(count) { Thread.new { get(server, "/wait").body.to_i } }.map(&:value)
  end

  # Our files among those that were written to +file+.
  def ours(file) = File.readlines(file, chomp: true).grep(%r{/lib/cuttle/})
end

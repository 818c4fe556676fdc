# frozen_string_literal: true

require "uri"

module Bench
  # Load generators: their command lines and their reports. Each runs as one process with one thread if it has an option
  # for that.
  #
  # A Tool has
  #   name, unavailable     the reason why it can't run here, or nil
  #   command(url, connections:, seconds:, rate:) => argv
  #   figures(output)                => { rate:, p50:, p99:, max: } (per second; seconds; nil: not reported)
  module LoadTools
    CUTTLE = [RbConfig.ruby, "-I", File.join(ROOT, "lib"), File.join(ROOT, "exe/cuttle"), "load"].freeze
    MANY = 5_000_000 # requests, for tools that need a number besides the duration (ab reserves memory for each)

    # open: whether it has intended times and needs a rate. idle: argv of a run that does almost nothing, whose CPU time
    # is that of the tool's start; nil if that is negligible.
    Tool = Struct.new(:name, :program, :open, :build, :read, :idle, keyword_init: true) do
      def unavailable
        "#{program} is not installed" unless Lab::Machine.program(program) || File.executable?(program)
      end

      def command(url, connections:, seconds:, rate: nil)
        build.call(url, connections, seconds, rate)
      end

      def figures(output)
        read.call(output)
      end
    end

    # The servers' answer. ab uses HTTP/1.0, in which a connection persists only if the server says so.
    ANSWER = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 13\r\n\r\nHello, world!"

    module_function

    # "12.3us", "4.5ms", "1.9s" in seconds, or nil.
    def seconds(text)
      match = /\A([\d.]+)\s*(us|µs|ms|s|m)\z/.match(text.to_s) or return
      match[1].to_f * { "us" => 1e-6, "µs" => 1e-6, "ms" => 1e-3, "s" => 1, "m" => 60 }.fetch(match[2])
    end

    def number(text, factor = 1)
      text && text.to_f * factor
    end

    def cuttle(output)
      result = JSON.parse(output)
      latency = result["summary"]["latency"]
      p50, p99 = latency["percentiles"].values_at("50", "99")
      lag = result["summary"]["lag"]["percentiles"]["99"]
      { rate: result["rate"], p50: number(p50, 1e-3), p99: number(p99, 1e-3), max: latency["max"] / 1e3,
        warning: result["marks"].map { |mark| mark["name"] }.join(" "), lag_p99: number(lag, 1e-3) }
    end

    # Reads the output like the lab's tester of that name.
    def tester(name, output)
      said = Lab::Testers.find(name).read(output) or return {}
      times = said.fetch(:percentiles, {}).transform_keys(&:to_f)
      { rate: said[:rate], p50: times[50.0], p99: times[99.0], max: said[:max] }
    end

    def hey(output)
      { rate: number(output[%r{Requests/sec:\s+([\d.]+)}, 1]), p50: number(output[/50%+ in ([\d.]+) secs/, 1]),
        p99: number(output[/99%+ in ([\d.]+) secs/, 1]), max: number(output[/Slowest:\s+([\d.]+)/, 1]) }
    end

    def h2load(output)
      longest = output[/^time for request:\s+\S+\s+(\S+)/, 1]
      { rate: number(output[%r{([\d.]+) req/s}, 1]), p50: nil, p99: nil, max: seconds(longest) }
    end

    def httperf(output)
      total = output.match(/ replies (\d+) test-duration ([\d.]+) s/)
      times = output[/^Connection time \[ms\]: min .*/].to_s
      { rate: total && total[1].to_i / total[2].to_f, p50: number(times[/ median ([\d.]+)/, 1], 1e-3), p99: nil,
        max: number(times[/ max ([\d.]+)/, 1], 1e-3) }
    end

    def httperf_command(url, seconds, rate)
      uri = URI(url)
      ["httperf", "--hog", "--server", uri.host, "--port", uri.port.to_s, "--uri", uri.path,
       "--rate", rate.to_s, "--num-conns", (rate * seconds).to_s]
    end

    def wrk_command(url, connections, seconds)
      script = File.join(TMP, "wrk.lua")
      File.write(script, Lab::Testers.find("wrk")::SCRIPT)
      ["wrk", "-t1", "-c#{connections}", "-d#{seconds}s", "-s", script, url]
    end

    # All tools; those with open: true need a rate.
    def all
      json = ["-q", "--json", "-", "-t", "1"]
      [
        Tool.new(name: "cuttle load", program: CUTTLE.first, read: method(:cuttle),
                 build: lambda { |url, connections, seconds, _|
                   [*CUTTLE, url, "-c", connections.to_s, "-d", "#{seconds}s", *json]
                 },
                 idle: ->(url) { [*CUTTLE, url, "-n", "1", "-c", "1", *json] }),
        Tool.new(name: "cuttle load --rate", program: CUTTLE.first, open: true, read: method(:cuttle),
                 build: ->(url, _, seconds, rate) { [*CUTTLE, url, "--rate", rate.to_s, "-d", "#{seconds}s", *json] },
                 idle: ->(url) { [*CUTTLE, url, "-n", "1", "-c", "1", *json] }),
        Tool.new(name: "wrk", program: "wrk", read: ->(output) { tester("wrk", output) },
                 build: ->(url, connections, seconds, _) { wrk_command(url, connections, seconds) }),
        Tool.new(name: "ab -k", program: "ab", read: ->(output) { tester("ab", output) },
                 build: lambda { |url, connections, seconds, _|
                   ["ab", "-q", "-k", "-c", connections.to_s, "-t", seconds.to_s, "-n", MANY.to_s, url]
                 }),
        Tool.new(name: "hey", program: "hey", read: method(:hey),
                 build: lambda { |url, connections, seconds, _|
                   ["hey", "-z", "#{seconds}s", "-c", connections.to_s, "-cpus", "1", url]
                 }),
        Tool.new(name: "h2load --h1", program: "h2load", read: method(:h2load),
                 build: lambda { |url, connections, seconds, _|
                   ["h2load", "--h1", "-t1", "-c#{connections}", "-D#{seconds}", url]
                 }),
        Tool.new(name: "siege -b", program: "siege", read: ->(output) { tester("siege", output) },
                 build: lambda { |url, connections, seconds, _|
                   ["siege", "-b", "-q", "-j", "-c#{connections}", "-t#{seconds}S", url]
                 }),
        Tool.new(name: "httperf --rate", program: "httperf", open: true, read: method(:httperf),
                 build: ->(url, _, seconds, rate) { httperf_command(url, seconds, rate) })
      ]
    end

    # The tools that are wanted and installed; prints the others with the reasons.
    def usable(options, tools = all)
      tools.select { |tool| options.wants?(tool.name) }.reject do |tool|
        warn "#{tool.name}: #{tool.unavailable}" if tool.unavailable
        tool.unavailable
      end
    end

    # Runs a command on the load's core. Returns [its output, its CPU seconds].
    def run(command, cores, &while_running)
      before = Lab::Machine.children_cpu
      thread = while_running && Thread.new(&while_running)
      command = Lab::Machine::Cores.pinned(cores.load, command)
      output = IO.popen([*command, { in: File::NULL, err: File::NULL }], &:read)
      thread&.join
      [output, Lab::Machine.children_cpu - before]
    end

    # Rows of cells as a Markdown table.
    def table(header, rows)
      [header, header.map { "---" }, *rows].map { |cells| "| #{cells.join(" | ")} |" }.join("\n")
    end

    def milliseconds(seconds)
      seconds ? format(seconds < 0.1 ? "%.3f" : "%.0f", seconds * 1000) : "-"
    end
  end
end

# frozen_string_literal: true

module Bench
  # Thousands of slow clients in one process (benchmark/slow/slow.c), on this process's core.
  class SlowClients
    SOURCE = File.join(ROOT, "benchmark/slow/slow.c")
    START_TIMEOUT = 60

    attr_reader :count
    # Seconds between two octets that a client sends, or two portions that it reads.
    attr_accessor :interval

    # kinds: "heads:2000", "readers:2000:/300k" … (see slow.c).
    def initialize(*kinds)
      @kinds = kinds
      @interval = 1
      @count = kinds.sum { |kind| kind.split(":")[1].to_i }
    end

    def unavailable
      "gcc is not installed" unless Lab::Machine.program("gcc")
    end

    # Returns when all of them are connected, or as many as the server accepts within the program's patience.
    def open(port, **)
      Cuttle::Load::Plan::Checks.allow_files(@count)
      interval = (@interval * 1000).round.to_s
      @program = IO.popen([Bench.compile(SOURCE), port.to_s, "--interval", interval, *@kinds], "r+")
      line = @program.gets if @program.wait_readable(START_TIMEOUT)
      raise Lab::Failure, "slow clients did not start" unless line == "ready\n"
    end

    def pid
      @program.pid
    end

    # { cpu: its own CPU seconds, heads: { active:, opened:, closed: … }, … }
    def counts
      @program.puts
      JSON.parse(@program.gets, symbolize_names: true)
    end

    # slow_held: connections that it has now. slow_closed: connections that the server has ended.
    def figures
      kinds = counts.values.grep(Hash)
      { slow_held: kinds.sum { |kind| kind[:active] }, slow_closed: kinds.sum { |kind| kind[:closed] } }
    end

    def close
      @program&.close
      @program = nil
    end
  end
end

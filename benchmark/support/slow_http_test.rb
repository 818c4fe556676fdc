# frozen_string_literal: true

module Bench
  # slowhttptest (from Debian's package): slow heads (-H), bodies (-B) or readers (-X), and its own probe, which reports
  # for each second whether the server was available.
  class SlowHttpTest
    COUNT = 2_000
    RATE = 1_000 # connections per second
    PROBE_TIMEOUT = 3
    AFTER = 3 # seconds that it continues after the load's
    MODES = { "-H" => %w[-i], "-B" => %w[-s 100000 -i], "-X" => %w[-z 5 -w 64 -y 512 -n] }.freeze

    attr_reader :count, :pid
    # Seconds between two pieces that a client sends or reads.
    attr_accessor :interval

    def initialize(mode, path: "/")
      @mode = mode
      @path = path
      @interval = 1
      @count = COUNT
      @report = File.join(TMP, "slowhttptest")
    end

    def unavailable
      "slowhttptest is not installed (Debian: slowhttptest)" unless Lab::Machine.program("slowhttptest")
    end

    # seconds: the duration of the load beside it.
    def open(port, seconds:)
      Cuttle::Load::Plan::Checks.allow_files(@count)
      FileUtils.rm_f("#{@report}.csv")
      words = [*MODES.fetch(@mode), @interval.ceil.to_s, "-c", @count.to_s, "-r", RATE.to_s,
               "-l", (seconds.ceil + AFTER).to_s, "-p", PROBE_TIMEOUT.to_s,
               "-u", "http://127.0.0.1:#{port}#{@path}", "-g", "-o", @report]
      @pid = Process.spawn("slowhttptest", @mode, *words, in: File::NULL, out: "#{@report}.log", err: %i[child out])
      sleep(@count.fdiv(RATE)) # it does not report when all are connected
    end

    # slow_held: connections at the end. available: share of the seconds in which its probe was answered.
    def figures
      wait
      head, *rows = File.readlines("#{@report}.csv", chomp: true).map { |line| line.split(",") }
      rows = rows.map { |row| head.zip(row.map(&:to_i)).to_h }
      raise Lab::Failure, "slowhttptest recorded nothing" if rows.empty?

      { slow_held: rows.map { |row| row["Connected"] }.max, slow_closed: rows.map { |row| row["Closed"] }.max,
        available: rows.count { |row| row["Service Available"].positive? }.fdiv(rows.size) }
    end

    def close
      return unless @pid

      Process.kill(:TERM, @pid)
      wait
    end

    private

    def wait
      Process.wait(@pid) if @pid
      @pid = nil
    end
  end
end

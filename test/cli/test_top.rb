# frozen_string_literal: true

require "test_helper"
require "io/console"
require "json"
require "open3"
require "pty"
require "cuttle/cli/top"

# `cuttle top`: what it shows, and what it leaves of a terminal.
class TestTop < Minitest::Test
  include Serving
  include TemporaryDirectory

  Top = Cuttle::CLI::Top
  Screen = Top::Screen
  LIBRARY = Serving::ServingProcess::PATHS.map { |path| "-I#{path}" }.freeze
  COMMAND = [Serving::ServingProcess::RUBY.first, "--disable=gems", *LIBRARY, "#{ROOT}/exe/cuttle", "top"].freeze
  LINE = %r{\A\d\d:\d\d:\d\d  requests/s \S+  busy 0/5  queue 0  p50 .*  workers 1/1  restarts 0\n\z}

  # What runs it as a shell does, with the modes of the terminal before and after. A suspended one is resumed.
  SCRIPT = <<~SHELL
    set -m
    while [ -e wait ] && ! [ -e go ]; do sleep 0.05; done
    stty -g > before
    sh -c 'echo $$ > pid; exec "$@"' sh "$@"
    echo $? > status; stty -g > after
    if [ -e again ]; then
      while [ -e status ]; do sleep 0.05; done
      fg; echo $? > status; stty -g > after
    fi
  SHELL

  def setup
    @state = "#{@directory}/state"
    File.write("#{@directory}/config.ru", "run ->(_env) { [200, {}, ['x']] }")
  end

  def test_once
    [0, 2].each do |workers|
      server("-w", workers.to_s) do |process|
        3.times { get(process) }
        eventually("their end in the figures", every: 0.1) { figures.then { |all| requests(all) == 3 && idle?(all) } }
        out, err, status = top("--once", "--interval", "0.2")
        assert_equal ["", 0], [err, status]
        assert_match(/\Acuttle #{Regexp.escape(Cuttle::VERSION)} on ruby /, out)
        assert_match(%r{^requests/s \S+   busy 0/\d+   queue 0 }, out)
        rows = out.lines.drop_while { |line| !line.include?("BUSY") }.drop(1)
        assert_equal [workers, 1].max, rows.length
        assert_equal %w[0 1].first(workers), rows.map { |row| row[/\A +?(\d)|\A(\d)/].strip } if workers.positive?
      end
    end
  end

  # Into a pipe.
  def test_plain_lines
    server("-w", "1") do
      Open3.popen2e(*COMMAND, "-S", @state, "--interval", "0.1") do |_, out, thread|
        lines = Array.new(3) { out.gets }
        lines.each { |line| assert_match(LINE, line) }
        Process.kill("INT", thread.pid)
        assert_equal 0, thread.value.exitstatus
      end
    end
  end

  def test_a_reader_that_goes_away
    server do
      Open3.popen3(*COMMAND, "-S", @state, "--interval", "0.1") do |_, out, err, thread|
        out.gets
        out.close
        assert_equal 1, thread.value.exitstatus
        assert_empty err.read
      end
    end
  end

  def test_in_a_terminal_until_q
    server("-w", "2") do
      terminal do |screen, keys|
        read_until(screen, "WORKER")
        read_until(screen, Screen::HOME)
        keys.write("q")
        assert_ended(screen, 0)
      end
    end
  end

  def test_ctrl_c_and_signals_leave_the_terminal_as_it_was
    server do
      { "\u0003" => 0, "TERM" => 128 + 15, "HUP" => 128 + 1 }.each do |end_it, status|
        terminal do |screen, keys|
          read_until(screen, "BUSY")
          end_it.length == 1 ? keys.write(end_it) : Process.kill(end_it, written("pid").to_i)
          assert_ended(screen, status)
        end
      end
    end
  end

  def test_it_follows_the_terminals_size
    server("-w", "1") do
      terminal do |screen, keys|
        read_until(screen, "AGE")
        keys.winsize = [24, 30]
        eventually("a narrow page") { page(screen).map(&:length).max <= 30 }
        keys.write("q")
        assert_ended(screen, 0)
      end
    end
  end

  def test_suspended_it_gives_the_terminal_back
    server do
      terminal(again: true) do |screen, keys|
        read_until(screen, "BUSY")
        keys.write("\u001a")
        assert_ended(screen, 128 + Signal.list["TSTP"])
        File.unlink("#{@directory}/after", "#{@directory}/status")
        read_until(screen, Screen::ENTER)
        keys.write("q")
        assert_ended(screen, 0)
      end
    end
  end

  def test_a_server_that_goes_away_and_comes_back
    File.write(@state, "")
    url = "unix://#{@directory}/c"
    terminal("-C", url, wait: true) do |screen, keys|
      server("--control-url", url) do |process|
        File.write("#{@directory}/go", "")
        read_until(screen, "BUSY")
        process.stop
        read_until(screen, "can't reach")
      end
      server("--control-url", url) do
        eventually("the figures") { page(screen).none? { |line| line.include?("can't reach") } }
        keys.write("q")
        assert_ended(screen, 0)
      end
    end
  end

  def test_what_it_can_not_do
    assert_equal ["", "cuttle: not running (no state file #{@state})\n", 1], top
    assert_equal 2, top("word").last
    assert_equal 2, top("--interval", "0").last
    serving_process("--pidfile", "#{@directory}/pid", chdir: @directory, forked: true) do
      _, err, status = outcome("-P", "#{@directory}/pid")
      assert_equal ["cuttle: top needs a control listener: serve with --control-url\n", 1], [err, status]
    end
    assert_includes outcome("--help").first, "--once"
  end

  # A server of another version, or something else.
  def test_an_answer_that_is_none
    assert_raises(Cuttle::Error) { Top::Sample.new({ "stats" => {} }) }
    odd = said(1)
    odd["ledgers"]["11"]["total"]["buckets"] = [[3.5, 1]]
    assert_raises(Cuttle::Error) { Top::Sample.new(odd) }
  end

  def test_figures_are_of_the_time_between_two_looks
    text = view(said(100), said(300), seconds: 2).lines(width: 200).join("\n")
    assert_includes text, "requests/s 200   busy 3/6   queue 4   p50"
    assert_match(/^0 +11  serves +1\/3 +2 +100 .* 25% /, text)
    assert_match(/^1 +12  starts /, text)
    assert_includes text, "gvl 25%   memory 60 MB   workers 1/2   restarts 3"
  end

  # In the first moment, and of a worker that has just come.
  def test_what_is_not_known_is_a_dash
    now = said(100)
    view = Top::View.new(sample(now, 2), sample({ **now, "ledgers" => {} }, 1))
    assert_includes view.summary, "requests/s -  busy 3/6  queue 4  p50 -  p99 -  gvl -"
    bare = { "stats" => { "worker_status" => [{ "last_status" => {} }] }, "memory" => {}, "ledgers" => {} }
    assert_includes Top::View.new(sample(bare, 2), sample(bare, 1)).summary, "busy -  queue -"
  end

  def test_it_fits_any_terminal
    view = view(said(100), said(300))
    [[1, 1], [10, 3], [20, 5], [40, 10], [80, 24], [200, 60]].each do |width, height|
      lines = view.lines(width: width, height: height)
      assert_operator lines.length, :<=, height
      assert_operator lines.map(&:length).max, :<=, width
    end
    assert_includes view.lines(width: 80, height: 6).last, "more"
    refute_includes view.lines(width: 60).join, "AGE"
  end

  # A hot restart without workers keeps the pid, and its figures begin at 0.
  def test_a_process_that_has_executed_itself
    text = view(alone(300, "2026-11-23T16:44:46Z"), alone(3, "2026-11-23T16:50:00Z")).summary
    assert_includes text, "requests/s -  busy 1/3  queue 2  p50 -  p99 -"
  end

  private

  # Yields it when each worker has booted.
  def server(*args)
    args += ["--control-url", "auto"] unless args.include?("--control-url")
    serving_process("-S", @state, *args, chdir: @directory, forked: true) do |process|
      eventually("each worker") { figures.then { |all| all["booted_workers"] == all["workers"] } }
      yield process
    end
  end

  # What the server says to `cuttle ctl`.
  def figures
    out = StringIO.new
    assert_equal 0, Cuttle::CLI.new(out: out, err: out).run(["ctl", "-S", @state, "stats"]), out.string
    JSON.parse(out.string)
  end

  # Those of each serving process.
  def parts(figures) = figures["worker_status"]&.map { |worker| worker["last_status"] } || [figures]
  def requests(figures) = parts(figures).sum { |part| part["requests_count"] }
  def idle?(figures) = parts(figures).all? { |part| part["busy_threads"].zero? }

  def top(*args) = outcome("-S", @state, *args)

  def outcome(*args)
    out = StringIO.new
    err = StringIO.new
    status = Cuttle::CLI.new(out: out, err: err).run(["top", *args])
    [out.string, err.string.lines.first.to_s, status]
  end

  # Runs it in a terminal. Yields what it prints, and where to type.
  def terminal(*args, again: false, wait: false)
    Dir.chdir(@directory) { %w[before after pid status go wait again].each { |name| FileUtils.rm_f(name) } }
    File.write("#{@directory}/again", "") if again
    File.write("#{@directory}/wait", "") if wait
    args = ["-S", @state] if args.empty?
    command = ["sh", "-c", SCRIPT, "sh", *COMMAND, *args, "--interval", "0.1"]
    screen, keys, shell = Dir.chdir(@directory) { PTY.spawn(*command) }
    keys.winsize = [24, 120]
    yield screen, keys
  ensure
    finish(shell, [screen, keys]) if shell
  end

  def finish(shell, ends)
    [written("pid").to_i, shell].each { |pid| Process.kill("KILL", pid) if pid.positive? }
  rescue Errno::ESRCH
    nil
  ensure
    ends.each(&:close)
    Process.wait(shell)
  end

  def written(name) = File.exist?("#{@directory}/#{name}") ? File.read("#{@directory}/#{name}") : ""

  # It has ended with that status, on the first screen, with the modes of before.
  def assert_ended(screen, status)
    read_until(screen, Screen::LEAVE)
    eventually("the end") { written("after").end_with?("\n") }
    assert_equal [status, written("before")], [written("status").to_i, written("after")]
  end

  # What +screen+ prints, up to and with +text+.
  def read_until(screen, text)
    @read ||= {}
    read = (@read[screen] ||= +"".b)
    eventually("#{text.inspect} on the screen") do
      piece = screen.read_nonblock(65_536, exception: false)
      read << piece if piece.is_a?(String)
      read.include?(text.b)
    end
    read.slice!(0, read.index(text.b) + text.bytesize).force_encoding(Encoding::UTF_8)
  end

  # The lines of the next page that it draws whole.
  def page(screen)
    read_until(screen, Screen::HOME)
    text = read_until(screen, Screen::TO_SCREEN_END).delete_suffix(Screen::TO_SCREEN_END)
    text.gsub(Screen::TO_LINE_END, "").split(/\r+\n/)
  end

  def view(before, now, seconds: 1) = Top::View.new(sample(now, 1 + seconds), sample(before, 1))

  def sample(said, at) = Top::Sample.new(JSON.parse(JSON.generate(said)), at: at)

  # The answer of a server without workers.
  def alone(requests, started_at)
    all = said(requests)
    figures = all["stats"]["worker_status"].first["last_status"]
    { "stats" => { "started_at" => started_at, **figures }, "ledgers" => all["ledgers"].slice("11"),
      "memory" => { "11" => 20_000_000 } }
  end

  # The answer of a server with two workers after that many requests, each of 10 ms, of which 2.5 are waiting for the
  # GVL.
  def said(requests)
    bound = Cuttle::Ledger::BOUNDS.find { |each| each >= 10_000_000 }
    phase = ->(each) { { count: requests, sum: requests * each, buckets: [[bound, requests]] } }
    ledger = { total: phase.call(11_000_000), app: phase.call(10_000_000), gvl: phase.call(2_500_000) }
    workers = [["0", 11, true, 1], ["1", 12, false, 2]].map do |index, pid, booted, busy|
      { index: index.to_i, pid: pid, booted: booted, retiring: false, restarts: busy,
        started_at: "2026-11-23T16:44:46Z",
        last_status: { busy_threads: busy, max_threads: 3, backlog: 2, connections: 7 } }
    end
    text = JSON.generate({ stats: { workers: 2, booted_workers: 1, worker_status: workers },
                           ledgers: { 11 => ledger, 12 => ledger },
                           memory: { 9 => 10_000_000, 11 => 20_000_000, 12 => 30_000_000 } })
    JSON.parse(text)
  end
end

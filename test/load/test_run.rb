# frozen_string_literal: true

require "test_helper"
require "io/nonblock"
require "json"
require "open3"
require "rbconfig"
require "tempfile"
require "tmpdir"

# Runs of the generator against servers whose every fault is known.
class TestLoadRun < Minitest::Test
  include OldContainer
  include Eventually

  Load = Cuttle::Load
  Servers = Cuttle::Load::TestServers

  def load(kind = :null, server: {}, **options)
    Servers.open(kind, **server) { |it| Load.run(it.url, threads: 1, **options) }
  end

  def test_a_number_of_requests_is_that_number
    Servers.open do |server|
      [1, 7, 500].each do |count|
        result = Load.run(server.url, requests: count, connections: 7, threads: 2)

        assert_equal [count, count, 0], [result.sent, result.responses, result.failures]
      end
      assert_equal 508, server.requests
    end
  end

  def test_an_open_loop_sends_what_was_offered
    result = load(rate: 500, duration: 1)

    assert_equal [500, 500, 500], [result.offered, result.sent, result.responses]
    assert_equal 500, result.latency.count
    assert_equal 500, result.lag.count
  end

  # On a loaded machine the last responses are late at times.
  def test_an_open_loop_has_the_rate_that_was_offered
    eventually("495 to 505 a second") { load(rate: 500, duration: 1).rate.between?(495, 505) }
  end

  # The sends before each one are part of its lag.
  def test_requests_of_one_moment_are_sent_one_after_the_other
    result = load(trace: [0.0] * 200, connections: 200)

    assert_equal 200, result.responses
    assert_operator result.lag.pairs.length / 2, :>, 20
  end

  def test_an_open_loop_of_a_number
    assert_equal [30, 30], load(rate: 200, requests: 30).then { |result| [result.offered, result.responses] }
  end

  def test_a_trace_is_sent_wholly
    times = (0..40).map { |index| index / 100.0 }

    assert_equal 41, load(trace: times).responses
  end

  def test_steps_and_ramps_end_by_themselves
    assert_equal 60, load(steps: [[40, 80], 0.5]).responses
    assert_equal 100, load(ramp: [0, 200, 1]).responses
  end

  def test_the_warm_up_is_not_counted
    result = load(rate: 200, duration: 0.5, warmup: 0.5)

    assert_equal [100, 100], [result.sent, result.responses]
    assert_in_delta 0.5, result.elapsed, 0.001
  end

  # One response of the warm-up may arrive after its end.
  def test_octets_of_the_warm_up_are_not_counted
    result = load(requests: 5, warmup: 0.2, connections: 1)

    assert_includes 5..6, result.octets.fdiv(Servers::ANSWER.bytesize)
  end

  def test_requests_after_a_closed_warm_up
    assert_equal 50, load(requests: 50, warmup: 0.2, connections: 3).responses
  end

  def test_pipelining
    result = load(requests: 1000, pipeline: 16, connections: 2)

    assert_equal [1000, 0, 2], [result.responses, result.failures, result.opened]
  end

  def test_a_connection_for_each_request
    result = load(requests: 50, keep_alive: false, connections: 3)

    assert_equal [50, 50, 0], [result.responses, result.opened, result.failures]
  end

  def test_thinking
    result = load(requests: 20, connections: 2, think: 0.05)

    assert_operator result.elapsed, :>=, 0.4
    assert_equal 20, result.responses
  end

  def test_threads_share_connections
    result = Servers.open { |server| Load.run(server.url, connections: 5, threads: 3, duration: 0.3) }

    assert_equal [3, 5], [result.threads.length, result.opened]
  end

  def test_response_time_runs_from_the_intended_time
    result = load(server: { delays: [0.1] }, rate: 100, duration: 0.5, connections: 1)

    # One connection answers ten a second: the fiftieth request waits for the forty-nine before it.
    assert_operator result.latency.max, :>, 4e9
    assert_operator result.service.max, :<, result.latency.max / 2
    assert_operator result.lag.max, :>, 3.5e9
    assert_equal 50, result.responses
  end

  def test_a_timeout_counts_with_its_length
    [{ rate: 50, duration: 0.4 }, { connections: 4, requests: 12 }].each do |options|
      result = load(:silent, timeout: 0.25, **options)

      assert_equal 0, result.responses
      assert_equal result.sent, result.errors[:timeout]
      assert_equal result.sent, result.latency.count
      assert_operator result.latency.min, :>=, 0.25e9
    end
  end

  # Four requests begin together. The fifth is sent after the first response, and has half of its time left.
  def test_requests_behind_a_timeout_are_no_timeouts
    result = load(server: { delays: [0.5, 60] }, requests: 5, pipeline: 4, connections: 1, timeout: 1)

    assert_equal [1, 3, 1], [result.responses, result.errors[:timeout], result.errors[:dropped]]
    assert_equal [4, 4], [result.latency.count, result.failures]
  end

  def test_whether_all_connections_were_in_use
    assert_predicate load(trace: [0.0] * 3, connections: 2), :full?
    refute_predicate load(trace: [0.0] * 3, connections: 3), :full?
    refute_predicate load(requests: 20, connections: 2, keep_alive: false), :full?
  end

  # A request that never got a connection waited too.
  def test_requests_that_could_not_be_sent_time_out
    result = load(:silent, rate: 100, duration: 0.3, connections: 2, timeout: 0.2)

    assert_equal 30, result.errors[:timeout]
    assert_equal 30, result.latency.count
  end

  # The schedule asked for each request, sent or not.
  def test_requests_that_could_not_be_sent_are_requests
    result = load(:silent, trace: [0.0] * 30, connections: 2, timeout: 0.2)
    text = Load::Reports::Text.render(result)

    assert_equal [30, 2, 28, 30, 30],
                 [result.offered, result.sent, result.abandoned, result.arrivals, result.errors[:timeout]]
    assert_empty Load::Assertions.new("errors=100%, timeout=100%").failures(result)
    assert_match(/errors: 30 of 30 requests failed \(100%\)/, text)
    assert_match(/^responses   0 of 2 sent, 28 timed out before they could be sent$/, text)
    assert_match(/>30<.*>100%</, Load::Reports::Html.render(result))
  end

  def test_each_fault_is_counted_as_what_it_is
    Load::SelfTest::FAULTS.each do |kind, error|
      [{}, { rate: 200 }, { keep_alive: false }].each do |options|
        result = load(kind, requests: 10, connections: 2, **Load::SelfTest.patience(kind), **options)
        counted = result.errors.select { |_, count| count.positive? }

        assert_equal({ error => 10 }, counted, "#{kind} #{options}")
      end
    end
  end

  def test_statuses_are_counted
    assert_equal({ 500 => 7 }, load(:failing, requests: 7).statuses)
    assert_equal({ 200 => 100 }, load(rate: 200, duration: 0.5, warmup: 0.2).statuses)
    assert_equal({}, load(:closing, requests: 3).statuses)
  end

  def test_errors_leave_no_good_response
    result = load(:failing, requests: 2000)

    assert_equal [2000, 0, 0.0], [result.responses, result.good, result.good_rate]
    assert_includes result.marks.map(&:name), :errors
  end

  def test_figures_by_name
    mix = [Load::Request.new(path: "/a", weight: 3), Load::Request.new(path: "/b", expect: 404),
           Load::Request.new(path: "/c", name: "GET /a")]
    result = Servers.open { |server| Load.run(server.url, requests: 1000, connections: 3, threads: 2, mix: mix) }
    one, other = result.entries

    assert_equal ["GET /a", "GET /b"], result.entries.map(&:name)
    assert_equal [1000, 1000], [one.responses + other.responses, one.latency.count + other.latency.count]
    assert_equal [0, other.responses], [one.failures, other.errors[:status_unexpected]]
    assert_operator one.responses, :>, other.responses
    assert_equal Load::Histograms.sum([one.latency, other.latency]).pairs, result.latency.pairs
  end

  def test_one_name_needs_no_entry
    assert_empty load(requests: 5).entries
    assert_empty load(requests: 5, mix: [Load::Request.new(body: "a"), Load::Request.new(body: "b")]).entries
  end

  # Requests that never got a connection are under their names too.
  def test_timeouts_have_names
    mix = [Load::Request.new(path: "/a"), Load::Request.new(path: "/b")]
    result = load(:silent, rate: 100, duration: 0.3, connections: 2, timeout: 0.2, mix: mix)

    assert_equal 30, result.entries.sum { |entry| entry.errors[:timeout] }
    assert_equal 30, result.entries.sum { |entry| entry.latency.count }
  end

  def test_names_beyond_the_last_are_one
    mix = Array.new(300) { |number| Load::Request.new(path: "/#{number}") }
    result = load(requests: 3000, mix: mix)

    assert_equal [256, "others", 3000],
                 [result.entries.length, result.entries.last.name, result.entries.sum(&:responses)]
    assert_operator result.entries.last.responses, :>, 200
  end

  def test_waiting_for_a_core_is_known
    result = load(duration: 0.2)

    assert_includes 0..1, result.waiting
    assert_operator result.waiting_per_response, :>=, 0
  end

  def test_expected_statuses
    assert_equal 0, load(:missing, requests: 5, expect: 404).failures
    assert_equal 5, load(:null, requests: 5, expect: 201).errors[:status_unexpected]
  end

  def test_an_answer_that_is_not_http_fails_the_load
    error = assert_raises(Load::Failure) { load(:babbling, requests: 5) }

    assert_match(/the answer is not HTTP: it begins with "SSH-2.0-OpenSSH/, error.message)
  end

  # The result says that the run was shorter than asked for.
  def test_a_run_without_hope_ends_early
    error = assert_raises(Load::Generator::Incomplete) { load(:babbling, duration: 600, connections: 2) }

    assert_match(/the answer is not HTTP/, error.message)
    assert error.result.interrupted?
    assert_operator error.result.errors[:malformed], :>, 0
  end

  # The first request gets no HTTP, and the others get the block's answers.
  def after_rubbish(**options, &answer)
    first = true
    server = Answering.new do |request|
      next answer.call(request) unless first

      first = false
      ["rubbish", [], ""]
    end
    Load.run(server.url, threads: 1, connections: 1, **options)
  ensure
    server&.close
  end

  # The second answer takes longer than the second after which a run without hope ends.
  def test_a_slow_answer_may_follow_an_error
    result = after_rubbish(requests: 2) do
      sleep 1.5
      [200, [], ""]
    end

    assert_equal [1, 1, false], [result.responses, result.errors[:malformed], result.interrupted?]
  end

  def test_an_error_does_not_hide_more_of_another_kind
    result = after_rubbish(requests: 4, timeout: 0.2) do
      sleep 0.5
      [200, [], ""]
    end

    assert_equal [0, 4], [result.responses, result.errors.values_at(:malformed, :timeout).sum]
  end

  def test_an_address_that_can_not_be_reached_fails_the_load
    port = Servers.open(&:port)

    assert_match(/127.0.0.1:#{port}: Connection refused/,
                 assert_raises(Load::Failure) { Load.run("http://127.0.0.1:#{port}/") }.message)
    assert_match(/no.invalid: the name can't/, assert_raises(Load::Failure) { Load.run("http://no.invalid/") }.message)
    assert_match(%r{/no/such/socket: No such file},
                 assert_raises(Load::Failure) { Load.run("unix:///no/such/socket") }.message)
  end

  # A server that ends in the middle of a run: the result has the responses so far, and why the rest failed.
  def test_a_server_that_goes_away
    server = Servers::Known.new
    generator = Load::Generator.new(Load::Plan.build(server.url, connections: 3, threads: 1, duration: 1))
    result = generator.run(on_tick: ->(elapsed, _) { server.close if elapsed > 0.4 })

    assert_operator result.responses, :>, 0
    assert_operator result.errors[:connect], :>, 0
    # The first that fails may have been in the listener's queue when that closed.
    assert_match(/\AConnection (refused|reset by peer)\z/, result.connect_error)
    assert_match(/could not connect +\d+ \(#{result.connect_error}\)/, Load::Reports::Text.render(result))
  end

  def test_a_freeze_is_in_the_percentiles_of_an_open_loop
    result = load(server: { freeze_at: 0.5, freeze: 1 }, rate: 300, duration: 2.5)

    assert_operator result.latency.value_at(99), :>=, 0.7e9
    assert_empty result.marks.map(&:name) & [:frozen]
  end

  def test_a_freeze_is_marked_in_a_closed_loop
    result = Servers.open(freeze_at: 0.5, freeze: 1) do |server|
      Load.run(server.url, connections: 4, threads: 2, duration: 2)
    end

    assert_operator result.longest_gap.reverse.reduce(:-), :>=, 0.9
    assert_match(/froze for \d/, result.marks.find { |mark| mark.name == :frozen }&.text)
  end

  # Three requests of the only connection time out, one after the other.
  def test_timeouts_do_not_divide_a_freeze
    result = load(server: { freeze_at: 0.5, freeze: 1 }, connections: 1, duration: 2, timeout: 0.3)

    assert_operator result.longest_gap.reverse.reduce(:-), :>=, 0.9
  end

  def test_windows_add_up
    seen = []
    result = Servers.open do |server|
      Load.run(server.url, rate: 400, duration: 2.5, threads: 2, on_window: ->(window) { seen << window })
    end

    assert_equal [[0.0, 1.0], [1.0, 2.0], [2.0, 2.5]],
                 seen.reject(&:draining?).map { |window| [window.from, window.to] }
    assert_equal 1000, seen.sum(&:responses)
    assert_equal result.latency.pairs, Load::Histograms.sum(seen.map(&:histogram)).pairs
  end

  def test_what_a_window_raises_ends_the_run
    error = assert_raises(RuntimeError) { load(duration: 60, on_window: ->(_) { raise "enough" }) }

    assert_equal "enough", error.message
  end

  def test_interrupting
    result = interrupted(:null, ticks: 3, duration: 600, threads: 1)

    assert_predicate result, :interrupted?
    assert_operator result.responses, :>, 0
    assert_operator result.elapsed, :<, 300
    assert_includes result.marks.map(&:name), :interrupted
  end

  # The percentiles lack all that wait.
  def test_what_waited_at_an_interruption
    trace = (0..400).map { |index| index / 200.0 }
    result = interrupted(:silent, ticks: 3, trace: trace, connections: 2, threads: 2)

    assert_equal [2, 2, 0], [result.sent, result.unfinished, result.latency.count]
    assert_equal result.sent + result.overdue, result.offered
    assert_operator result.overdue, :>, 20
    assert_operator result.longest_wait, :>=, 0.15e9
    assert_match(/interrupted after .*; \d+ requests still waited, at most for \d+ ms/, result.marks.first.text)
    assert_match(/0 of 2 sent, 2 unanswered and \d+ overdue when stopped$/, Load::Reports::Text.render(result))
  end

  def interrupted(kind, ticks:, **options)
    Servers.open(kind) do |server|
      generator = Load::Generator.new(Load::Plan.build(server.url, **options))
      generator.run(on_tick: ->(*) { generator.interrupt if (ticks -= 1).zero? })
    end
  end

  def test_other_ruby_threads_run_meanwhile
    turns = 0
    counting = Thread.new { loop { turns += 1 } }
    load(duration: 0.3)
    counting.kill.join

    assert_operator turns, :>, 100
  end

  def test_a_result_survives_json
    result = load(rate: 200, duration: 0.5)
    text = JSON.generate(result.to_h)

    assert_equal text, JSON.generate(Load::Result.load(JSON.parse(text)).to_h)
  end

  def test_damaged_results_are_refused
    good = JSON.parse(JSON.generate(load(requests: 5).to_h))
    [nil, [], {}, good.merge("schema" => "x"), good.except("windows"), good.merge("windows" => [{}]),
     good.merge("histograms" => {}), good.merge("started_at" => "yesterday")].each do |damaged|
      assert_raises(Load::Failure) { Load::Result.load(damaged) }
    end
  end

  def test_unix_sockets
    Dir.mktmpdir do |directory|
      path = File.join(directory, "s")
      listener = UNIXServer.new(path)
      thread = Thread.new { loop { serve_one(listener.accept) } }
      result = Load.run("unix://#{path}:/hello", requests: 3, connections: 1, threads: 1)

      assert_equal [3, 0], [result.responses, result.failures]
      assert_equal "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", @heard
    ensure
      thread&.kill
      listener&.close
    end
  end

  # As TCP does: the server accepts nothing until the run has begun.
  def test_a_full_backlog_of_a_unix_socket
    Dir.mktmpdir do |directory|
      path = File.join(directory, "s")
      listener = UNIXServer.new(path).tap { |it| it.listen(1) }
      thread = nil
      plan = Load::Plan.build("unix://#{path}:/", requests: 20, connections: 10, threads: 1, keep_alive: false)
      accepting = ->(*) { thread ||= Thread.new { loop { serve_one(listener.accept) } } }
      result = Load::Generator.new(plan).run(on_tick: accepting)

      assert_equal [20, 0], [result.responses, result.failures]
    ensure
      thread&.kill
      listener&.close
    end
  end

  def test_a_full_backlog_times_out
    Dir.mktmpdir do |directory|
      path = File.join(directory, "s")
      listener = UNIXServer.new(path).tap { |it| it.listen(1) }
      result = Load.run("unix://#{path}:/", requests: 6, connections: 4, threads: 1, timeout: 0.3)

      assert_equal [6, 6], [result.errors[:timeout], result.failures]
    ensure
      listener&.close
    end
  end

  # As it may be while another load runs.
  def test_a_backlog_that_is_full_at_the_start
    Dir.mktmpdir do |directory|
      address = Addrinfo.unix(File.join(directory, "s"))
      listener = UNIXServer.new(address.unix_path).tap { |it| it.listen(1) }
      waiting = fill(address)

      assert_equal address.to_sockaddr, Load::Target.new("unix://#{address.unix_path}").address
    ensure
      [listener, *waiting].compact.each(&:close)
    end
  end

  # Connects until the backlog is full.
  def fill(address)
    sockets = [Socket.new(:UNIX, :STREAM)]
    sockets << Socket.new(:UNIX, :STREAM) while sockets.last.connect_nonblock(address)
  rescue Errno::EAGAIN
    sockets
  end

  # Without descriptors from the first tick to the second.
  def test_errors_of_this_machine_are_not_the_servers
    files = Process.getrlimit(:NOFILE)
    limits = [[3, files.last], files]
    result = Servers.open do |server|
      plan = Load::Plan.build(server.url, rate: 200, duration: 0.8, threads: 1, keep_alive: false)
      limit = ->(*) { limits.shift&.then { |soft_and_hard| Process.setrlimit(:NOFILE, *soft_and_hard) } }
      Load::Generator.new(plan).run(on_tick: limit)
    end

    assert_equal [result.failures, 160], [result.errors[:local], result.responses + result.failures]
    assert_operator result.failures, :>, 0
    assert_match(/could not be opened here \(Too many open files\)/, result.marks.map(&:text).join)
    assert_match(/this machine's fault +\d+ \(Too many open files\)/, Load::Reports::Text.render(result))
  ensure
    Process.setrlimit(:NOFILE, *files)
  end

  # Chunks of one octet take the generator longer than the server, so there is always more to read.
  def test_a_response_that_does_not_end_times_out
    chunks = "1\r\nx\r\n" * 1_000_000
    flooding(chunks, 60) do |url|
      result = Load.run(url, requests: 1, connections: 1, threads: 1, timeout: 0.1)

      assert_equal [0, 1, 1], [result.responses, result.errors[:timeout], result.failures]
      assert_operator result.octets, :<, 60 * chunks.bytesize
    end
  end

  # Yields the URL of a server that answers with +text+ so many times, from a process that does nothing else.
  def flooding(text, times)
    Tempfile.create("text") do |file|
      file.write(text)
      file.close
      listener = TCPServer.new("127.0.0.1", 0)
      thread = Thread.new { loop { flood(listener.accept, [file.path] * times) } }
      yield "http://127.0.0.1:#{listener.local_address.ip_port}/"
    ensure
      thread&.kill&.join
      listener&.close
    end
  end

  def flood(client, paths)
    client.readpartial(1000)
    client.nonblock = false
    client.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    pid = Process.spawn("cat", *paths, out: client, err: File::NULL)
  rescue EOFError
    nil
  ensure
    client.close
    Process.wait(pid) if pid
  end

  def test_a_container_that_refuses_precise_waits
    assert_equal "5", old_container(<<~RUBY)
      load = Cuttle::Load::TestServers.open { |server| Cuttle::Load.run(server.url, rate: 100, requests: 5, timeout: 1) }
      print load.responses
    RUBY
  end

  # A process without a descriptor left for the threads. Prints the error, and whether its input is still the same.
  WITHOUT_FILES = <<~RUBY
    Cuttle::Load::TestServers.open do |server|
      generator = Cuttle::Load::Generator.new(Cuttle::Load::Plan.build(server.url, requests: 1)).prepare
      input = $stdin.stat.ino
      limits = Process.getrlimit(:NOFILE)
      Process.setrlimit(:NOFILE, 3, limits.last)
      generator.run
    rescue Cuttle::Load::Failure => error
      Process.setrlimit(:NOFILE, *limits)
      print error.message, ", ", $stdin.stat.ino == input
    end
  RUBY

  def test_a_load_that_can_not_start_closes_nothing_else
    assert_equal "the load can't be started: Too many open files, true", printed_by(WITHOUT_FILES)
  end

  def printed_by(script)
    library = File.expand_path("../../lib", __dir__)
    Open3.capture2(RbConfig.ruby, "--disable=gems", "-I#{library}", "-rcuttle", "-e", script).first
  end

  def serve_one(client)
    while (request = client.readpartial(1000))
      @heard = request
      client.write(Servers::ANSWER)
    end
  rescue EOFError
    client.close
  end
end

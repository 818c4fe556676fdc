# frozen_string_literal: true

require "test_helper"
require_relative "../support/kept_gvl"

# What workers publish to each other.
class TestScoreboard < Minitest::Test
  include KeptGvl

  def setup
    @workers = []
  end

  def teardown
    @workers.dup.each { |pid| end_worker(pid) }
  end

  def test_processes_share_it
    scoreboard = Cuttle::Scoreboard.new(2)
    child = fork { exit!(scoreboard.take(1) ? 0 : 1) }
    assert Process.wait2(child).last.success?
    assert_equal [[0, false], [0, false]], scoreboard.to_a
  end

  def test_somebody_looks_at_the_figures
    scoreboard = Cuttle::Scoreboard.new(1)
    refute_predicate scoreboard, :watched?
    Process.wait(fork { scoreboard.watch(600).then { exit!(0) } })
    assert_predicate scoreboard, :watched?
    scoreboard.watch(0)
    refute_predicate scoreboard, :watched?
  end

  def test_a_poller_says_what_it_has_and_whether_it_is_free
    scoreboard = Cuttle::Scoreboard.new(2)
    assert scoreboard.take(1)
    with_poller(scoreboard) do |poller, port|
      waiting = Thread.new { poller.next }
      Eventually.eventually("a free thread") { scoreboard.to_a[1] == [0, true] }
      client = Socket.tcp("127.0.0.1", port)
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      waiting.value.respond(200, {}, ["x"])
      assert_equal [[0, false], [1, false]], scoreboard.to_a
      client.close
      assert_equal false, poller.next(0.2)
      assert_equal 0, scoreboard.to_a[1].first
    end
  end

  # A worker that has a connection already leaves the next to one that has none; and takes it when that one doesn't.
  def test_the_worker_with_fewer_connections_goes_first
    scoreboard = Cuttle::Scoreboard.new(2)
    suspend(start_worker(scoreboard, 1), scoreboard, 1)
    assert scoreboard.take(0)
    with_poller(scoreboard) do |poller, port|
      clients = Array.new(2) do
        Socket.tcp("127.0.0.1", port).tap { |client| client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
      end
      assert poller.next
      assert poller.next(5), "no worker took the connection that it left to the other one"
      assert_equal [2, false], scoreboard.to_a[0]
      clients.each(&:close)
    end
  end

  # A draining worker accepts no connections.
  def test_a_worker_that_was_stopped_is_not_free
    scoreboard = Cuttle::Scoreboard.new(1)
    scoreboard.take(0)
    with_poller(scoreboard) do |poller, port|
      client = Socket.tcp("127.0.0.1", port)
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      connection = poller.next
      poller.stop
      draining = Thread.new { poller.next }
      Eventually.eventually("the listeners to close") { RawClient.refused?(port) }
      assert_equal [[1, false]], scoreboard.to_a
      connection.respond(200, {}, ["x"])
      assert_nil draining.value
      client.close
    end
  end

  # It left the second connection to the other worker, which might also be about to close its listeners: then none
  # accepted it.
  def test_a_worker_that_stops_leaves_nobody_to_the_others
    scoreboard = Cuttle::Scoreboard.new(2)
    start_worker(scoreboard, 1)
    assert scoreboard.take(0)
    with_poller(scoreboard) do |poller, port|
      clients = Array.new(3) { Socket.tcp("127.0.0.1", port) }
      poller.stop
      assert_equal false, poller.next(0)
      assert_equal 3, poller.stats[:accepted]
      clients.each(&:close)
    end
  end

  def test_a_place_is_cleared
    scoreboard = Cuttle::Scoreboard.new(2)
    other = start_worker(scoreboard, 1)
    end_worker(other)
    assert_equal [0, true], scoreboard.to_a[1]
    scoreboard.clear(1)
    assert_equal [0, false], scoreboard.to_a[1]
  end

  # Those that are there have them all, and each has one at least.
  def test_workers_share_the_cores
    scoreboard = Cuttle::Scoreboard.new(4)
    assert_equal 4, scoreboard.share(4)
    shares = [3, 0, 1, 2].map { |place| fork_and_tell { scoreboard.take(place) } && scoreboard.share(5) }
    assert_equal [5, 2.5, 5 / 3.0, 1.25], shares
    assert_equal 1, scoreboard.share(3)
    2.times { scoreboard.clear(1) }
    assert_equal 2, scoreboard.share(6)
    fork_and_tell { scoreboard.take(2) }
    assert_equal 2, scoreboard.share(6)
  end

  # What a worker can't receive for want of a descriptor waits for the supervisor, and from then on requests that wait
  # go to a worker that can.
  def test_a_worker_without_descriptors_gets_no_requests_from_others
    scoreboard = Cuttle::Scoreboard.new(3, 1, 3)
    assert scoreboard.take(0)
    complaint, report = IO.pipe
    with_kept_clients(scoreboard, 3) do |poller, clients|
      ask(clients[0])
      held = poller.next
      poor = start_worker(scoreboard, 1) do
        $stderr.reopen(report)
        serve(scoreboard, 1) { Process.setrlimit(:NOFILE, 3) }
      end
      suspend(poor, scoreboard, 1)
      ask(clients[1])
      Eventually.eventually("the request in the relay") { poller.stats[:relayed] == 1 }
      Process.kill(:CONT, poor)
      assert_match(/descriptor/, complaint.gets)
      start_worker(scoreboard, 2)
      ask(clients[2])
      assert_match(/place 2\z/, answer(clients[2]), "it went to the worker that can't receive it")
      end_worker(poor)
      Eventually.eventually("the other worker's thread") { scoreboard.to_a[2].last }
      scoreboard.clear(1)
      assert_match(/place 2\z/, answer(clients[1]), "it went to a worker without a free thread")
      assert_equal 2, poller.stats[:relayed]
      held.respond(200, {}, [""])
    end
  ensure
    [complaint, report].each(&:close)
  end

  # A request that waits stays with its worker if the idle one may have no more connections.
  def test_a_worker_with_all_its_connections_gets_none_from_others
    scoreboard = Cuttle::Scoreboard.new(2, 1, 2)
    assert scoreboard.take(0)
    with_kept_clients(scoreboard, 2, max_connections: 2) do |poller, clients|
      start_worker(scoreboard, 1) do
        with_kept_clients(scoreboard, 2, place: 1, max_connections: 2) { |own, _| serve_on(own, 1) }
      end
      waiting = Thread.new { poller.next(0.1, 0) }
      ask(clients[0])
      assert_equal false, waiting.value
      poller.next(10).respond(200, {}, ["at home"])
      assert_match(/at home\z/, answer(clients[0]))
      assert_equal 0, poller.stats[:relayed]
    end
  end

  # Nobody would pass on what is in the relay of a worker that dies then.
  def test_workers_keep_their_requests_while_the_supervisor_executes_another_program
    scoreboard = Cuttle::Scoreboard.new(2, 1, 2)
    assert scoreboard.take(0)
    with_kept_clients(scoreboard, 1) do |poller, clients|
      start_worker(scoreboard, 1)
      scoreboard.relay(false)
      waiting = Thread.new { poller.next(0.1, 0) }
      ask(clients[0])
      assert_equal false, waiting.value
      scoreboard.relay(true)
      assert_given_away(poller, clients[0])
    end
  end

  # Its worker died before it received it, so the supervisor gives it back: it is older than what came here meanwhile.
  def test_a_request_from_another_worker_has_its_turn_by_its_age
    scoreboard = Cuttle::Scoreboard.new(2, 1, 2)
    assert scoreboard.take(0)
    with_kept_clients(scoreboard, 2) do |poller, clients|
      other = start_worker(scoreboard, 1)
      suspend(other, scoreboard, 1)
      ask(clients[0], "/first")
      look_until("the request in the relay", poller) { |stats| stats[:relayed] == 1 }
      ask(clients[1], "/second")
      look_until("the second request", poller) { |stats| stats[:ready] == 1 }
      end_worker(other)
      scoreboard.clear(1)
      look_until("both requests", poller) { |stats| stats[:ready] == 2 }
      assert_equal(%w[/first /second], Array.new(2) { answer_next(poller) })
    end
  end

  # It waits in the kernel, and the request in its queue.
  def test_a_full_engine_gives_its_requests_to_others
    scoreboard = Cuttle::Scoreboard.new(2, 1, 2)
    assert scoreboard.take(0)
    with_kept_clients(scoreboard, 1) do |poller, clients|
      start_worker(scoreboard, 1)
      ask(clients[0])
      assert_given_away(poller, clients[0])
    end
  end

  # No request is in the app there, but a thread of the app's own has the GVL for long. The thread that waits for a
  # request goes for the GVL when there is one, or when its time is up.
  { "" => nil, "_and_time_is_up" => 0.05 }.each do |also, patience|
    define_method("test_a_request_goes_on_when_its_new_worker_computes_between_requests#{also}") do
      need_fiddle
      scoreboard = Cuttle::Scoreboard.new(3, 1, 3)
      assert scoreboard.take(0)
      kept, keeps = IO.pipe
      start_worker(scoreboard, 1) do
        Thread.new { keep_gvl_when_free(keeps, scoreboard, 1) }
        serve(scoreboard, 1, patience)
      end
      kept.readpartial(1)
      start_worker(scoreboard, 2)
      with_kept_clients(scoreboard, 1) do |poller, clients|
        ask(clients[0])
        assert_given_away(poller, clients[0], place: 2)
      end
    ensure
      [kept, keeps].each { |pipe| pipe&.close }
    end
  end

  # The thread that waited goes for the GVL, which this thread keeps. It gets it, and ends without a look for requests.
  # Another thread waits then, so the worker is free again.
  def test_a_worker_whose_gvl_is_kept_is_not_free
    need_fiddle
    scoreboard = Cuttle::Scoreboard.new(1, 1, 1)
    keeps = closed_when_not_free(scoreboard)
    assert scoreboard.take(0)
    with_poller(scoreboard) do |poller, _|
      leader = Thread.new { poller.next }
      Eventually.eventually("a thread that waits") { !poller.starved? }
      other = Thread.new { poller.next }
      Eventually.eventually("another one") { other.stop? }
      leader.kill
      keep_gvl(keeps)
      assert_predicate Process.wait2(@workers.pop).last, :success?
      leader.join
      Eventually.eventually("a free worker") { scoreboard.to_a[0].last }
    end
  ensure
    keeps&.close
  end

  # A request that waits counts nowhere yet, so that no count goes back when it is given away.
  def test_a_request_counts_where_it_is_answered
    scoreboard = Cuttle::Scoreboard.new(2, 1, 2)
    assert scoreboard.take(0)
    with_kept_clients(scoreboard, 1) do |poller, clients|
      ask(clients[0])
      look_until("the request", poller) { |stats| stats[:ready] == 1 }
      assert_equal 1, poller.stats[:requests]
      start_worker(scoreboard, 1)
      assert_given_away(poller, clients[0])
      assert_equal 1, poller.stats[:requests]
    end
  end

  def test_what_is_wrong
    [0, Cuttle::Scoreboard::MOST + 1].each { |room| assert_raises(ArgumentError) { Cuttle::Scoreboard.new(room) } }
    scoreboard = Cuttle::Scoreboard.new(1)
    assert_equal false, scoreboard.take(1)
    assert_same scoreboard, scoreboard.clear(1)
    assert_raises(ArgumentError) { scoreboard.send(:initialize, 1) }
    assert_raises(ArgumentError) { Cuttle::Scoreboard.allocate.to_a }
    assert_raises(TypeError) { Cuttle::Poller.new([], scoreboard: 1) }
  end

  private

  # What the block returns in a child, as true or false.
  def fork_and_tell
    child = fork { exit!(yield ? 0 : 1) }
    Process.wait2(child).last.success?
  end

  # Forks a worker that serves, or that runs the block, and waits until it is free. Returns its pid. It ends with the
  # test at the latest.
  def start_worker(scoreboard, place, &block)
    fork { block ? block.call : serve(scoreboard, place) }.tap do |pid|
      @workers << pid
      Eventually.eventually("the worker of place #{place}") { scoreboard.to_a[place].last }
    end
  end

  # A worker that needs a while until its thread waits is not free meanwhile.
  def suspend(pid, scoreboard, place)
    Eventually.eventually("a suspended worker that is free") do
      Process.kill(:STOP, pid)
      Process.wait(pid, Process::WUNTRACED)
      scoreboard.to_a[place].last || (Process.kill(:CONT, pid) && false)
    end
  end

  def end_worker(pid)
    Process.kill(:KILL, pid)
    Process.wait(@workers.delete(pid))
  end

  def ask(client, path = "/")
    client.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n")
  end

  # Looks for work, of which the engine takes none, until the block is content with the poller's stats.
  def look_until(what, poller)
    Eventually.eventually(what) do
      poller.next(0.01, 0)
      yield poller.stats
    end
  end

  def answer(client)
    client.wait_readable(10) ? client.readpartial(1000) : "nothing"
  end

  # Answers a request. Returns its path.
  def answer_next(poller)
    exchange = poller.next(10)
    exchange.path.tap { exchange.respond(200, {}, [""]) }
  end

  # The client's request goes to that place, as its first one, while the engine of this one is full.
  def assert_given_away(poller, client, place: 1)
    waiting = Thread.new { poller.next(nil, 0) }
    assert_match(/ 1 of place #{place}\z/, answer(client))
    poller.wake
    assert_equal false, waiting.value
  end

  # Keeps the GVL once the worker of that place waits for requests.
  def keep_gvl_when_free(pipe, scoreboard, place)
    Eventually.eventually("the worker of place #{place}") { scoreboard.to_a[place].last }
    keep_gvl(pipe)
  end

  # The end of a pipe that is kept open until the first worker is not free, by a process that succeeds then.
  def closed_when_not_free(scoreboard)
    kept, keeps = IO.pipe
    @workers << fork do
      kept.readpartial(1)
      Eventually.eventually("a worker that is not free") { !scoreboard.to_a[0].last }
      exit!(0)
    ensure
      exit!(1)
    end
    kept.close
    keeps
  end

  # Clients that have had an answer each.
  def with_kept_clients(scoreboard, count, **options)
    with_poller(scoreboard, **options) do |poller, port|
      clients = Array.new(count) { Socket.tcp("127.0.0.1", port) }
      clients.each do |client|
        ask(client)
        poller.next.respond(200, {}, [""])
        client.readpartial(1000)
      end
      yield poller, clients
    ensure
      clients&.each(&:close)
    end
  end

  # In a child. The block is called once it has its descriptors.
  # patience: seconds after which it looks for a request again, or nil.
  def serve(scoreboard, place, patience = nil)
    scoreboard.take(place)
    with_poller(scoreboard) do |poller, _|
      yield if block_given?
      serve_on(poller, place, patience)
    end
  ensure
    exit!(0)
  end

  def serve_on(poller, place, patience = nil)
    until (exchange = poller.next(patience)).nil?
      exchange.respond(200, {}, [" #{poller.stats[:requests]} of place #{place}"]) if exchange
    end
  end

  def with_poller(scoreboard, **options)
    listener = TCPServer.new("127.0.0.1", 0)
    poller = Cuttle::Poller.new([listener], env: {}, scoreboard: scoreboard, **options)
    yield poller, listener.local_address.ip_port
  ensure
    poller&.stop
    listener&.close
  end
end

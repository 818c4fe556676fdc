# frozen_string_literal: true

require "test_helper"

# A request that has to wait in a busy worker goes to an idle one, with its connection.
class TestBusyWorkers < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Each answer begins with the pid, and ends with the number of requests that its worker gave away meanwhile. /hold
  # computes until it may go on, and /sleep sleeps, so the other requests of the worker wait.
  APP = <<~RUBY
    eaten = []
    turns = 0
    mark = ->(name) { File.write(name + ".new", Process.pid.to_s) && File.rename(name + ".new", name) }
    relayed = -> { Cuttle.stats[:relayed].to_i }
    run(lambda do |env|
      before = relayed.call
      case env["PATH_INFO"]
      when "/hold" then mark.call("held").then { nil until File.exist?("go") }
      when "/sleep" then mark.call("held").then { sleep 0.01 until File.exist?("go") }
      when "/hold2" then mark.call("held2").then { nil until File.exist?("go2") }
      when "/20ms"
        over = Cuttle.now + 0.02
        nil while Cuttle.now < over
      when "/turn" then next [200, {}, [[Process.pid, turns += 1].join(" ")]]
      when "/eat"
        Thread.new do
          (sleep 0.01 until File.exist?("one")).then { eaten.pop.close }
          (sleep 0.01 until File.exist?("free")).then { eaten.each(&:close) }
        end
        loop { eaten << File.open(File::NULL) } rescue Errno::EMFILE
      end
      facts = env.values_at("REQUEST_METHOD", "PATH_INFO", "REMOTE_ADDR", "rack.url_scheme")
      [200, {}, [[Process.pid, *facts, env["rack.input"]&.read.to_s, relayed.call - before].join(" ")]]
    end)
  RUBY

  ENGINES = { "hybrid" => %w[-t 1], "reactor" => [], "fibers" => [] }.freeze

  def test_a_request_that_has_to_wait_goes_to_an_idle_worker
    ENGINES.each do |engine, flags|
      cluster("--engine", engine, *flags) do |process|
        holding(process) do |held, busy, waiting|
          relayed = ask(waiting)
          refute_equal held, relayed, engine
          assert_equal relayed, ask(waiting), "#{engine}: its connection has moved"
          touch("go")
          assert_equal [held.to_s, "1"], busy.response.body.split.values_at(0, -1), engine
        end
      end
    end
  end

  # Under fibers the others run meanwhile.
  def test_a_request_leaves_a_worker_whose_app_sleeps
    ENGINES.slice("hybrid", "reactor").each do |engine, flags|
      cluster("--engine", engine, *flags) do |process|
        holding(process, path: "/sleep") do |held, busy, waiting|
          refute_equal held, ask(waiting), engine
          touch("go")
          assert_equal held.to_s, busy.response.body.split.first, engine
        end
      end
    end
  end

  def test_what_came_behind_it_goes_with_it
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        waiting.write(%w[/1 /2 /3].map { |path| get_of(path) }.join + "GET /4 HT")
        bodies = Array.new(3) { waiting.response.body.split }
        assert_equal(%w[/1 /2 /3], bodies.map { |body| body[2] })
        refute_includes bodies.map(&:first), held.to_s
        waiting.write("TP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert_equal "/4", waiting.response.body.split[2]
        assert_predicate waiting, :closed?
        touch("go")
        busy.response
      end
    end
  end

  def test_the_idle_worker_knows_the_clients_address
    trust = %w[--trust 127.0.0.1 --proxy-protocol]
    proxy = "PROXY TCP4 192.0.2.7 192.0.2.1 5 443\r\n"
    cluster("-t", "1", *trust) do |process|
      holding(process, first: proxy) do |held, busy, waiting|
        waiting.write(get_of("/"))
        pid, *facts = waiting.response.body.split
        refute_equal held.to_s, pid
        assert_equal %w[GET / 192.0.2.7], facts.first(3)
        touch("go")
        busy.response
      end
    end
  end

  # With what came behind it.
  def test_a_body_goes_with_its_request
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        waiting.write("#{post("Content-Length: 3")}abc#{post("Content-Length: 2")}de#{post("Content-Length: 1")}")
        bodies = Array.new(2) { waiting.response.body.split }
        assert_equal(%w[abc de], bodies.map { |body| body[-2] })
        refute_includes bodies.map(&:first), held.to_s
        assert_equal "f", waiting.write("f").response.body.split[-2]
        touch("go")
        busy.response
      end
    end
  end

  # Chunks were decoded, a client that was asked for its body sent it later, and 16 KB is the most that goes.
  def test_a_body_that_stays
    { ["Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n"] => "abc",
      ["Content-Length: 16400", "a" * 16_400] => "a" * 16_400,
      ["Expect: 100-continue\r\nContent-Length: 3", "abc"] => "abc" }.each do |(fields, octets), body|
      cluster("-t", "1") do |process|
        holding(process) do |held, busy, waiting, behind|
          waiting.write(post(fields))
          assert_equal 100, waiting.response(interim: true).status if fields.start_with?("Expect")
          waiting.write(octets)
          refute_equal held, ask(behind), "what came later has moved"
          touch("go")
          busy.response
          assert_equal [held.to_s, body], waiting.response.body.split.values_at(0, -2), fields
        end
      end
    end
  end

  def test_many_that_stay_do_not_keep_one_behind_them
    cluster("-t", "1") do |process|
      holding(process, each: 14) do |held, busy, *staying, behind|
        staying.each { |client| client.write("#{post("Transfer-Encoding: chunked")}0\r\n\r\n") }
        refute_equal held, ask(behind)
        touch("go")
        assert_equal([held] * 13, [busy, *staying].map { |client| client.response.body.to_i })
      end
    end
  end

  def test_it_can_be_turned_off
    cluster("-t", "1", "--no-relay") do |process|
      holding(process) do |held, busy, waiting|
        waiting.write(get_of("/"))
        touch("go")
        busy.response
        assert_equal held.to_s, waiting.response.body.split.first
      end
    end
  end

  # The supervisor passes it on.
  def test_the_idle_worker_is_killed_before_it_has_received_the_request
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        other = leave_in_relay(process, held, waiting)
        Process.kill("KILL", other)
        touch("go")
        busy.response
        refute_equal other.to_s, waiting.response.body.split.first
      end
    end
  end

  def test_the_idle_worker_gets_term_before_it_has_received_the_request
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        other = leave_in_relay(process, held, waiting)
        Process.kill("TERM", other)
        Process.kill("CONT", other)
        assert_equal other.to_s, waiting.response.body.split.first
        touch("go")
        busy.response
      end
    end
  end

  # Two requests of three, of which the first keeps it busy. The second one goes back when the other worker is idle.
  def test_a_request_goes_on_when_its_new_worker_is_busy_as_well
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, *waiting|
        other = stop_idle(process, held)
        waiting.zip(%w[/hold2 /1 /2]) do |client, path|
          @sockets = sockets(held)
          client.write(get_of(path))
          eventually("the request in the relay") { path == "/1" || sockets(held) < @sockets }
        end
        Process.kill("CONT", other)
        eventually("the second hold") { File.exist?("#{@directory}/held2") }
        touch("go")
        assert_equal([held.to_s] * 3, [busy, *waiting.drop(1)].map { |client| client.response.body.split.first })
        touch("go2")
        assert_equal other.to_s, waiting.first.response.body.split.first
      end
    end
  end

  def test_its_time_in_the_queue_does_not_begin_again
    cluster("-t", "1", "--queue-timeout", "2") do |process|
      holding(process) do |held, busy, waiting|
        other = leave_in_relay(process, held, waiting)
        sent = Cuttle.now
        eventually("the end of its time") { Cuttle.now > sent + 2 }
        Process.kill("CONT", other)
        assert_equal 503, waiting.response.status
        touch("go")
        busy.response
      end
    end
  end

  def test_the_idle_worker_has_no_descriptor_left
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        @idle.write(get_of("/eat")).response
        waiting.write(get_of("/"))
        eventually("the report") { process.err.include?("descriptors") }
        %w[one free].each { |name| touch(name) }
        refute_equal held.to_s, waiting.response.body.split.first
        touch("go")
        busy.response
      end
    end
  end

  def test_a_request_gets_a_descriptor_before_new_connections
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        @idle.write(get_of("/eat")).response
        go_on(leave_in_relay(process, held, waiting, last_of("/turn")))
        eventually("the report") { process.err.include?("descriptors") }
        others = Array.new(20) { RawClient.open(process).write(last_of("/turn")) }
        touch("one")
        pid, turn = waiting.response.body.split
        refute_equal held.to_s, pid
        assert_equal "1", turn
        others.each { |other| assert_predicate other.response, :complete? }
        touch("go")
        busy.response
      end
    end
  end

  def test_a_worker_without_descriptors_is_given_nothing
    cluster("-t", "1") do |process|
      holding(process) do |held, busy, waiting|
        @idle.write(get_of("/eat")).response
        other = RawClient.open(process).write(get_of("/"))
        eventually("the report") { process.err.include?("descriptors") }
        waiting.write(get_of("/"))
        sent = Cuttle.now
        eventually("time enough to move") { Cuttle.now > sent + 0.1 }
        touch("go")
        assert_equal([held.to_s] * 2, [busy, waiting].map { |client| client.response.body.split.first })
        %w[one free].each { |name| touch(name) }
        assert_predicate other.response, :complete?
      end
    end
  end

  # In the drain grace.
  def test_requests_leave_a_worker_that_stops
    cluster("-t", "2", "--drain-grace", "20") do |process|
      holding(process, path: "/sleep", each: 30) do |held, busy, waiting, *others|
        Process.kill("QUIT", held)
        eventually("the end of listening") { !listens?(held) }
        also_busy = also_holding(held, others)
        other = ask(waiting)
        refute_equal held, other
        assert_equal other, ask(waiting), "its connection is kept"
        %w[go go2].each { |name| touch(name) }
        assert_equal([held.to_s] * 2, [busy, also_busy].map { |client| client.response.body.split.first })
      end
    end
  end

  def test_requests_leave_a_worker_whose_request_is_stuck
    cluster("-t", "1", "--drain-grace", "20", "--app-timeout", "0.3") do |process|
      holding(process, path: "/sleep") do |held, busy, waiting|
        assert_equal 503, busy.response.status
        eventually("the end of listening") { !listens?(held) }
        response = waiting.write(get_of("/")).response
        assert_equal 200, response.status
        refute_equal held, response.body.to_i
      end
    end
  end

  # Kept connections, on which requests that take 20 ms meet others, while workers are replaced.
  def test_no_request_is_lost_while_workers_come_and_go
    cluster("-t", "1", "--worker-max-requests", "40") do |process|
      touch("go")
      asking = Array.new(8) { |number| Thread.new { ask_until(process, number) { @over } } }
      2.times do |index|
        Process.kill("USR1", process.pid)
        eventually("the restart") { process.err.scan("phased restart: done").length > index }
      end
      @over = true
      asked, answered, moved = asking.map(&:value).transpose.map(&:sum)
      assert_equal asked, answered
      assert_operator moved, :>, 0
    end
  end

  private

  def cluster(*args, &block)
    %w[go go2 held held2 one free].each { |name| FileUtils.rm_f("#{@directory}/#{name}") }
    File.write("#{@directory}/config.ru", APP)
    serving_process("config.ru", "-w", "2", *args, chdir: @directory, forked: true) do |process|
      eventually("both workers") { process.workers.length == 2 }
      block.call(process)
    ensure
      %w[go go2].each { |name| touch(name) }
      process.workers.each { |pid| go_on(pid) }
    end
  end

  def go_on(pid)
    Process.kill("CONT", pid)
  rescue Errno::ESRCH
    nil # it has just ended
  end

  # Keeps a worker busy. Yields its pid, the connection whose request it computes, and others that it has: +each+
  # altogether. It may be another worker than the connection's: on a loaded machine this request has to wait, too.
  def holding(process, path: "/hold", first: "", each: 4)
    clients = []
    by_worker = Hash.new { |all, worker| all[worker] = [] }
    until by_worker.length == 2 && by_worker.values.all? { |own| own.length >= each }
      clients << RawClient.open(process).write(first)
      by_worker[ask(clients.last)] << clients.last
    end
    busy = by_worker.values.first.shift.write(get_of(path))
    eventually("the app") { File.exist?("#{@directory}/held") }
    held = File.read("#{@directory}/held").to_i
    @sockets = sockets(held)
    @idle = by_worker.except(held).values.first.first
    yield held, busy, *by_worker.fetch(held).first(each - 1)
  ensure
    clients&.each(&:close)
  end

  # Keeps a second thread of that worker busy, and returns the connection whose request it computes: the first one whose
  # request does not go to another worker, as it may on a loaded machine.
  def also_holding(held, clients)
    clients.find do |client|
      client.write(get_of("/hold2"))
      eventually("the second hold") { File.exist?("#{@directory}/held2") }
      next true if File.read("#{@directory}/held2").to_i == held

      touch("go2")
      client.response
      %w[held2 go2].each { |name| FileUtils.rm("#{@directory}/#{name}") }
      false
    end || flunk("no request stayed in the worker")
  end

  def touch(name) = FileUtils.touch("#{@directory}/#{name}")

  def get_of(path) = "GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n"

  def last_of(path) = "GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  def post(fields) = "POST / HTTP/1.1\r\nHost: a\r\n#{fields}\r\n\r\n"

  # Returns the pid of the worker that answers.
  def ask(client) = client.write(get_of("/")).response.body.to_i

  # Suspends the other worker, once it waits for requests and the others know that.
  def stop_idle(process, held)
    other = (process.workers - [held]).first
    eventually("an idle worker") { states(other) == %w[S] }
    Process.kill("STOP", other)
    eventually("its stop") { states(other) == %w[T] }
    other
  end

  # Suspends the other worker, and sends a request that goes into its relay and stays there. (A worker that runs could
  # say at once that it receives no more, and the sender would take the request back.) Returns the pid.
  def leave_in_relay(process, held, client, request = get_of("/"))
    stop_idle(process, held).tap do
      client.write(request)
      eventually("the request in the relay") { sockets(held) < @sockets }
    end
  end

  # The states that threads of a process are in, as in /proc.
  def states(pid)
    Dir["/proc/#{pid}/task/*/stat"].map { |file| File.read(file)[/\) (\S)/, 1] }.uniq
  end

  # Sends requests on kept connections until the block returns true. One in five computes for 20 ms. Returns the numbers
  # of requests, of answers, and of answers by another worker than the one before, on the same connection.
  def ask_until(process, number)
    asked = answered = moved = 0
    client = last = nil
    until yield
      client ||= RawClient.open(process)
      response = client.write(get_of(((asked += 1) + number) % 5 == 1 ? "/20ms" : "/")).response
      answered += 1 if response.complete?
      pid = response.body.to_i
      moved += 1 if last && last != pid
      last = pid
      client, last = client.close if response["connection"] == "close"
    end
    [asked, answered, moved]
  ensure
    client&.close
  end

  def sockets(pid) = inodes(pid).length

  # The inodes of a process' sockets.
  def inodes(pid)
    Dir.children("/proc/#{pid}/fd").filter_map do |fd|
      File.readlink("/proc/#{pid}/fd/#{fd}")[/\Asocket:\[(\d+)/, 1]
    rescue Errno::ENOENT
      nil # it was closed meanwhile
    end
  end

  # Whether a process listens on a port, as in /proc/net/tcp.
  def listens?(pid)
    listeners = File.readlines("/proc/net/tcp").map(&:split).filter_map { |line| line[9] if line[3] == "0A" }
    listeners.intersect?(inodes(pid))
  end
end

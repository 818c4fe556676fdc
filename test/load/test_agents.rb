# frozen_string_literal: true

require "test_helper"
require "json"

# Several generators as one, on this machine.
class TestLoadAgents < Minitest::Test
  Load = Cuttle::Load
  TOKEN = "a secret of the tests"

  # Yields the addresses of +count+ agents.
  def agents(count, token: TOKEN)
    all = Array.new(count) { Load::Agent.new("127.0.0.1:0", token: token) }
    threads = all.map { |agent| Thread.new { agent.run } }
    yield all.map { |agent| "127.0.0.1:#{agent.port}" }
  ensure
    all&.each(&:stop)
    threads&.each(&:join)
  end

  # Yields the address of an agent that is gone as soon as it should go, and an Array that gets its plan.
  def vanishing(threads: 1)
    plans = []
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      socket = listener.accept
      wire = Load::Wire.new(socket, "caller")
      wire.authenticate(TOKEN, "agent")
      wire.put("threads" => threads)
      plans << wire.demand["plan"]
      wire.put("ready" => true)
      wire.demand
      socket.close
    end
    yield "127.0.0.1:#{listener.local_address.ip_port}", plans
  ensure
    thread&.kill&.join
    listener&.close
  end

  def run_agents(addresses, server, token: TOKEN, on_window: nil, **options)
    Load::Agents.new(Load::Plan.build(server.url, **options), addresses, token: token).run(on_window: on_window)
  end

  def test_they_send_what_one_would
    agents(3) do |addresses|
      Load::TestServers.open do |server|
        result = run_agents(addresses, server, rate: 300, duration: 1)

        assert_equal [300, 300, 300, 0], [result.offered, result.sent, result.responses, result.failures]
        assert_equal 300, result.latency.count
        assert_equal 3, result.threads.length
        assert_equal addresses, result.settings["agents"]
        assert_equal 300, server.requests
      end
    end
  end

  def test_they_split_requests_and_connections
    agents(2) do |addresses|
      Load::TestServers.open do |server|
        result = run_agents(addresses, server, requests: 101, connections: 5)

        assert_equal [101, 5], [result.responses, result.opened]
      end
    end
  end

  def test_windows_are_merged_as_they_come
    seen = []
    agents(2) do |addresses|
      Load::TestServers.open do |server|
        run_agents(addresses, server, rate: 200, duration: 2, on_window: ->(window) { seen << window })
      end
    end

    assert_equal [0.0, 1.0], seen.reject(&:draining?).map(&:from)
    assert_equal 400, seen.sum(&:responses)
  end

  # Those of hours would be more than a message may have.
  def test_an_agent_sends_its_windows_once
    agents(1) do |addresses|
      messages = Load::TestServers.open { |server| messages_of(addresses.first, server, requests: 5) }

      assert_equal 5, messages.filter_map { |message| message["window"] }.sum { |window| window["responses"] }
      assert_equal 5, messages.last["result"]["responses"]
      refute messages.last["result"].key?("windows")
    end
  end

  # What an agent sends its caller during a run, up to the result.
  def messages_of(address, server, **options)
    wire = Load::Wire.new(TCPSocket.new(*address.split(":")), address)
    wire.authenticate(TOKEN, "caller")
    wire.put("plan" => Load::Plan.build(server.url, **options).split([wire.demand["threads"]]).first.to_wire)
    wire.demand
    wire.put("go" => true)
    messages = [wire.demand]
    messages << wire.demand until messages.last.key?("result")
    messages
  ensure
    wire&.close
  end

  def test_a_mix_travels
    agents(2) do |addresses|
      Load::TestServers.open do |server|
        mix = [Load::Request.new(path: "/a", body: "\xFF\0".b, method: "POST", expect: 404),
               Load::Request.new(path: "/b", expect: 404)]

        assert_equal 50, run_agents(addresses, server, requests: 50, mix: mix).errors[:status_unexpected]
      end
    end
  end

  def test_statuses_and_names_are_merged
    mix = [Load::Request.new(path: "/a"), Load::Request.new(path: "/b", name: "b")]
    agents(2) do |addresses|
      Load::TestServers.open do |server|
        result = run_agents(addresses, server, requests: 101, mix: mix)

        assert_equal({ 200 => 101 }, result.statuses)
        assert_equal ["GET /a", "b"], result.entries.map(&:name)
        assert_equal 101, result.entries.sum(&:responses)
        assert_includes 0..1, result.waiting
      end
    end
  end

  # The same latencies, whether one histogram had them all or two were merged.
  def test_results_merge_exactly
    results = Array.new(2) do
      Load::TestServers.open { |server| Load.run(server.url, rate: 200, duration: 1.5, threads: 1) }
    end
    merged = Load::Result.merge(results, settings: results.first.settings)

    assert_equal Load::Histograms.sum(results.map(&:latency)).pairs, merged.latency.pairs
    assert_equal Load::Histograms.sum(results.map(&:lag)).pairs, merged.lag.pairs
    assert_equal results.sum(&:responses), merged.responses
    assert_equal results.map { |result| result.latency.max }.max, merged.latency.max
  end

  def test_an_agent_refuses_a_wrong_token
    agents(1) do |addresses|
      Load::TestServers.open do |server|
        error = assert_raises(Load::Failure) { run_agents(addresses, server, token: "guess", requests: 1) }

        assert_match(/another token|closed/, error.message)
        assert_equal 0, server.requests
      end
    end
  end

  # An agent's own proof, sent back to it, proves nothing.
  def test_a_proof_can_not_be_played_back
    agents(1) do |addresses|
      socket = TCPSocket.new(*addresses.first.split(":"))
      nonce = JSON.parse(socket.gets)["nonce"]
      socket.puts JSON.generate("cuttle-load" => Load::Wire::VERSION, "nonce" => nonce)
      socket.puts JSON.generate("proof" => JSON.parse(socket.gets)["proof"])

      assert_nil socket.gets
    ensure
      socket&.close
    end
  end

  def test_rubbish_does_not_hurt_an_agent
    agents(1) do |addresses|
      ["GET / HTTP/1.1\r\n\r\n", "{}\n", "[1]\n", "\0" * 5000, ""].each do |rubbish|
        socket = TCPSocket.new(*addresses.first.split(":"))
        socket.write(rubbish)
        socket.close_write
        socket.read
        socket.close
      end
      Load::TestServers.open { |server| assert_equal 5, run_agents(addresses, server, requests: 5).responses }
    end
  end

  # As a scan of ports, or the check of a load balancer, does.
  def test_a_caller_that_is_gone_at_once_does_not_hurt_an_agent
    agent = Load::Agent.new("127.0.0.1:0", token: TOKEN)
    TCPSocket.new("127.0.0.1", agent.port).tap { |caller| caller.setsockopt(Socket::Option.linger(true, 0)) }.close
    thread = Thread.new { agent.run }
    Load::TestServers.open do |server|
      assert_equal 5, run_agents(["127.0.0.1:#{agent.port}"], server, requests: 5).responses
    end
  ensure
    agent&.stop
    thread&.join
  end

  def test_an_error_names_the_agent_and_the_address_it_can_not_reach
    port = Load::TestServers.open(&:port)
    agents(1) do |addresses|
      plan = Load::Plan.build("http://127.0.0.1:#{port}/")
      error = assert_raises(Load::Failure) { Load::Agents.new(plan, addresses, token: TOKEN).run }

      assert_match(/agent #{addresses.first}: 127.0.0.1:#{port}: Connection refused/, error.message)
    end
  end

  def test_an_agent_that_is_not_there
    port = Load::TestServers.open(&:port)
    error = assert_raises(Load::Failure) do
      Load::Agents.new(Load::Plan.build("http://127.0.0.1:1/"), ["127.0.0.1:#{port}"], token: TOKEN).run
    end

    assert_match(/agent 127.0.0.1:#{port}: Connection refused/, error.message)
  end

  def test_the_others_finish_when_one_is_lost
    vanishing do |lost|
      agents(2) do |addresses|
        Load::TestServers.open do |server|
          seen = []
          error = assert_raises(Load::Generator::Incomplete) do
            run_agents([addresses[0], lost, addresses[1]], server, requests: 60, on_window: ->(each) { seen << each })
          end

          assert_equal "agent #{lost}: the connection is closed", error.message
          assert_equal [40, 40], [error.result.responses, seen.sum(&:responses)]
          assert_includes error.result.marks.map(&:text), "incomplete: #{error.message}"
        end
      end
    end
  end

  def test_what_agents_have_of_a_run_that_failed
    agents(2) do |addresses|
      Load::TestServers.open(:babbling) do |server|
        error = assert_raises(Load::Generator::Incomplete) { run_agents(addresses, server, requests: 10) }

        addresses.each { |address| assert_match(/agent #{address}: .*the answer is not HTTP/, error.message) }
        assert_equal 10, error.result.errors[:malformed]
      end
    end
  end

  def test_all_are_lost
    vanishing do |lost|
      Load::TestServers.open do |server|
        error = assert_raises(Load::Failure) { run_agents([lost], server, requests: 60) }

        assert_equal "agent #{lost}: the connection is closed", error.message
      end
    end
  end

  def test_each_agent_chooses_its_threads
    { nil => 7, 3 => 3 }.each do |given, used|
      vanishing(threads: 7) do |lost, plans|
        plan = Load::Plan.build("http://127.0.0.1:1/", connections: 50, threads: given)
        assert_raises(Load::Failure) { Load::Agents.new(plan, [lost], token: TOKEN).run }

        assert_equal [used, used], plans.first.then { |sent| [sent["options"]["threads"], sent["parts"]] }
      end
    end
  end

  # The caller's own limits don't matter.
  def test_an_agent_says_what_its_machine_lacks
    agents(1) do |addresses|
      plan = Load::Plan.build("http://127.0.0.1:1/", connections: 10**8)
      error = assert_raises(Load::Failure) { Load::Agents.new(plan, addresses, token: TOKEN).run }

      assert_match(/\Aagent #{addresses.first}: connections: at most/, error.message)
    end
  end

  def test_interrupting_all
    agents(2) do |addresses|
      Load::TestServers.open do |server|
        group = Load::Agents.new(Load::Plan.build(server.url, rate: 100, duration: 600), addresses, token: TOKEN)
        result = group.run(on_tick: ->(elapsed, _) { group.interrupt if elapsed > 0.5 })

        assert result.interrupted?
        assert_operator result.elapsed, :<, 300
      end
    end
  end

  def test_wrong_options_are_refused
    plan = Load::Plan.build("http://127.0.0.1:1/", connections: 2)

    assert_raises(Cuttle::UsageError) { Load::Agent.new("127.0.0.1:0", token: nil) }
    assert_raises(Cuttle::UsageError) { Load::Agent.new("nowhere", token: TOKEN) }
    assert_raises(Cuttle::UsageError) { Load::Agents.new(plan, ["a:1"], token: "") }
    assert_raises(Cuttle::UsageError) { Load::Agents.new(plan, ["a"], token: TOKEN) }
    assert_raises(Cuttle::UsageError) { Load::Agents.new(plan, [], token: TOKEN) }
    assert_raises(Cuttle::UsageError) { Load::Agents.new(plan, %w[a:1 b:1 c:1], token: TOKEN) }
  end

  # RFC 4231, test case 2 and 6 (a key longer than a block), of the proof without its role.
  def test_hmac_of_the_standard
    wire = Load::Wire.new(nil, "test")
    {
      ["Jefe", "what do ya", "want for nothing?"] => "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
      ["\xaa".b * 131, "Test Using Larger Than",
       "Block-Size Key - Hash Key First"] => "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    }.each { |(key, role, nonce), digest| assert_equal digest, wire.send(:proof, key, role, nonce) }
  end
end

# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "socket"
require "tmpdir"

# The machine: its cores, its lock, and its warnings.
class TestLabMachine < Minitest::Test
  Cores = Cuttle::Lab::Machine::Cores
  Warnings = Cuttle::Lab::Machine::Warnings

  def test_the_last_core_is_the_loads_and_the_rest_the_servers
    { [0, 1] => [[0], [1]], [0, 1, 2, 3] => [[0, 1, 2], [3]], [4, 6] => [[4], [6]], [0] => [[0], [0]],
      (0..7).to_a => [[0, 1, 2, 3, 4, 5], [6, 7]] }.each do |allowed, expected|
      cores = Cores.new(allowed: allowed)
      assert_equal expected, [cores.server, cores.load]
    end
  end

  def test_a_range_of_cores_has_some
    assert_equal({ server: [0, 1, 2], load: [3] }, Cores.parse("server:0-2,1 load:3"))
    ["server:2-0", "server:0,3-1", "load:3-1"].each { |text| assert_raises(Cuttle::UsageError) { Cores.parse(text) } }
  end

  def test_named_cores
    cores = Cores.new(server: [1], allowed: [0, 1])
    assert_equal [[1], [0]], [cores.server, cores.load]
    assert Cores.new(server: [0, 1], load: [1], allowed: [0, 1]).shared?
    assert_equal [[0, 1], [1]], Cores.new(server: [0, 1], allowed: [0, 1]).then { |each| [each.server, each.load] }
    assert_raises(Cuttle::UsageError) { Cores.new(server: [9], allowed: [0, 1]) }
  end

  # A container may have all cores, and a quota of their time. Cores that are named are taken as they are.
  def test_no_more_cores_than_a_quota_lets_it_use
    assert_equal Cores.allowed.first(1), Cores.usable(most: 1)
    assert_equal Cores.allowed, Cores.usable(most: 1000)
    Cores.stub(:allowed, [0, 1, 2, 3, 4, 5]) do
      Cuttle::Cluster::Cpus.stub(:count, 3) do
        assert_equal [[0, 1], [2]], Cores.new.then { |each| [each.server, each.load] }
        assert_equal [[4, 5], [2]], Cores.new(server: [4, 5]).then { |each| [each.server, each.load] }
      end
    end
  end

  # A program may run several labs.
  def test_a_lab_gives_its_process_the_cores_back
    before = Cores.allowed
    assert_raises(RuntimeError) do
      Cores.new.pinning_self do |pinned|
        assert_equal Cores.new(allowed: before).load, Cores.allowed if pinned
        raise "the lab failed"
      end
    end
    assert_equal before, Cores.allowed
  end

  def test_one_core_is_warned_of
    warning = Warnings.one_core(Cores.new(allowed: [0]))
    assert_equal "one_core", warning.name
    assert_match(/share core 0/, warning.text)
    assert_nil Warnings.one_core(Cores.new(allowed: [0, 1]))
  end

  # No processor makes one in a nanosecond, and no machine on which a server could run takes a millisecond.
  def test_the_cost_of_a_system_call
    assert_includes 1e-9..1e-3, Cuttle::Lab::Machine.system_call
    assert_nil Warnings.slow_calls(0.4e-6)
    warning = Warnings.slow_calls(1.34e-6)
    assert_equal "slow_calls", warning.name
    assert_match(/takes 1\.3 us here/, warning.text)
    Cuttle::Lab::Machine.stub(:system_call, 1e-6) do
      assert_includes Warnings.before(Cores.new, pinned: true).map(&:name), "slow_calls"
    end
  end

  def test_warnings_during_a_run
    assert_empty Warnings.during(others: 0.01, steal: 0.001, load_cpu: 0.5)
    names = Warnings.during(others: 0.2, steal: 0.05, load_cpu: 0.95).map(&:name)
    assert_equal %w[busy steal saturated], names
    text = Warnings.during(others: 0, steal: 0.025, load_cpu: 0).first.to_h
    assert_equal %w[name text advice], text.keys
    assert_match(/2\.5%/, text["text"])
    slow = Warnings.during(others: 0, steal: 0, speed: 0.6, load_cpu: 0)
    assert_equal [["slow", "a core of the servers' ran at 60% of its usual speed"]],
                 slow.map { |each| [each.name, each.text] }
    assert_empty Warnings.during(others: 0, steal: 0, speed: 0.9, load_cpu: 0)
  end

  def test_a_listening_ruby_is_seen
    reader, writer = IO.pipe
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-rsocket", "-e",
                        "TCPServer.new('127.0.0.1', 0)\nputs 'ready'; $stdout.flush; sleep", out: writer)
    writer.close
    assert_equal "ready\n", reader.gets
    assert_match(/ruby/, Warnings::Listeners.ruby_servers(own: 0).fetch(pid))
    warning = Warnings::Listeners.warning(own: 0)
    assert_match(/already listening: .+\z/, warning.text)
    refute_match(/kill|\d/, warning.advice, "they may be anybody's")
    refute_includes Warnings::Listeners.ruby_servers.keys, pid, "a service of the lab's own"
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid)
    refute_includes Warnings::Listeners.ruby_servers(own: 0).keys, pid
  end

  # Any process on the machine may have them.
  def test_a_command_line_may_have_any_octets
    reader, writer = IO.pipe
    pid = Process.spawn(RbConfig.ruby, "-e", "$stderr.puts 'ready'; sleep", "\xFF".b, err: writer)
    assert_equal "ready\n", reader.gets
    assert_includes Warnings::Listeners.ruby(pid), " sleep \uFFFD"
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid)
  end

  def test_the_lock_is_held_by_one
    Dir.mktmpdir do |directory|
      path = "#{directory}/lock"
      waited = Cuttle::Lab::Runner::Lock.waited
      order = Queue.new
      told = Queue.new.tap { |queue| queue.singleton_class.alias_method(:puts, :push) }
      Cuttle::Lab::Runner::Lock.hold(path) do
        other = Thread.new { Cuttle::Lab::Runner::Lock.hold(path, out: told) { order << :other } }
        assert_match(/waiting for another lab or benchmark \(pid #{Process.pid}\) to end/, told.pop)
        order << :first
        @other = other
      end
      @other.join
      assert_equal %i[first other], [order.pop, order.pop]
      assert_operator Cuttle::Lab::Runner::Lock.waited, :>, waited
    end
  end

  def test_facts
    facts = Cuttle::Lab::Machine.facts(Cores.new(allowed: [0, 1]))
    assert_equal [[0], [1]], facts.values_at("server_cores", "load_cores")
    assert_operator facts["memory"], :>, 100_000_000
    assert_equal RUBY_DESCRIPTION, facts["ruby"]
  end
end

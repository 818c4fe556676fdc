# frozen_string_literal: true

require "test_helper"
require_relative "../support/lab_fakes"

# Which configurations and loads a lab has, in which order.
class TestLabPlan < Minitest::Test
  def test_every_engine_alone_and_forked_and_one_of_them_twice
    plan = plan()
    assert_equal ["single", "single -w 2", "hybrid -t 5", "hybrid -w 2 -t 5", "fibers", "fibers -w 2",
                  "hybrid -t 5 (again)"], plan.configurations.map(&:name)
    assert_equal [1, 2, 5, 10, nil, nil, 5], plan.configurations.map(&:slots)
    assert_equal [nil, nil, nil, nil, nil, nil, "c3"], plan.configurations.map(&:control_of)
    assert_equal (1..7).map { |number| "c#{number}" }, plan.configurations.map(&:id)
  end

  def test_models_that_need_an_app_made_for_them_are_measured_if_they_are_asked_for
    names = %w[all copier].map { |engine| plan(engines: [engine]).configurations.map(&:name) }
    assert_equal ["copier -t 5", "copier --copies 2 -t 5"], names.first.grep(/copier/)
    assert_includes names.first, "fibers"
    assert_equal ["copier -t 5", "copier --copies 2 -t 5", "copier -t 5 (again)"], names.last
  end

  def test_a_server_gets_the_nearest_numbers_that_it_can_have
    plan = plan(engines: [], servers: %w[unicorn], workers: [0, 2], threads: [1, 5])
    assert_equal [["unicorn -w 1", 1, 1], ["unicorn -w 2", 2, 1], ["unicorn -w 1 (again)", 1, 1]],
                 plan.configurations.map { |each| [each.name, each.workers, each.threads] }
  end

  def test_what_is_not_installed_is_listed_and_never_started
    plan = plan(engines: %w[single], servers: %w[falcon], workers: [0])
    assert_equal({ "c2" => "falcon is not installed" }, plan.missing)
    assert_equal %w[c1 c3], plan.present.map(&:id)
    assert_equal "c1", plan.configurations.last.control_of
  end

  def test_a_configuration_that_no_numbers_make_possible_is_missing
    peers = LabFakes::Peers.new
    peers.find("unicorn").instance_variable_set(:@supports, lambda do |setup|
      setup.threads > 1 ? "unicorn has no threads" : ("unicorn closes every connection" if setup.keep_alive)
    end)
    options = Cuttle::Lab::Options.new(engines: %w[single], servers: %w[unicorn], workers: [2], keep_alive: [true],
                                       seed: 1)
    assert_equal({ "c2" => "unicorn closes every connection" }, Cuttle::Lab::Plan.build(options, peers: peers).missing)
  end

  def test_equal_slots
    plan = plan(engines: %w[single hybrid], slots: 10)
    assert_equal ["single -w 10", "hybrid -t 10", "hybrid -w 2 -t 5", "hybrid -t 10 (again)"],
                 plan.configurations.map(&:name)
    assert_equal [10], plan.configurations.map(&:slots).uniq
  end

  def test_keep_alive_of_both_kinds_is_in_the_names
    plan = plan(engines: %w[single], workers: [0], keep_alive: [false, true])
    assert_equal ["single keep-alive off", "single keep-alive on"], plan.configurations.first(2).map(&:name)
    assert_equal [nil], plan.loads.map(&:keep_alive).uniq
  end

  def test_loads
    plan = plan(concurrency: [1, 20], rates: [150.0], poisson: true)
    assert_equal ["1 connection", "20 connections", "150/s"], plan.loads.map(&:name)
    assert_equal %w[closed closed open], plan.loads.map(&:loop)
    assert_equal [false], plan.loads.map(&:keep_alive).uniq
  end

  # A round number of what the pilot found.
  def test_a_load_at_a_share_of_the_capacity
    pilot = Cuttle::Lab::Runner::Pilot::Found.new(0.5, 423.7, "hybrid -t 5", 5)
    options = Cuttle::Lab::Options.new(seed: 1, shares: [0.6, 0.9])
    peers = LabFakes::Peers.new
    loads = [nil, pilot].map { |found| Cuttle::Lab::Plan.build(options, peers: peers, pilot: found).loads }
    assert_equal [nil], loads[0].map(&:rate)
    assert_equal [["250/s", 250.0], ["380/s", 380.0]], (loads[1].map { |load| [load.name, load.rate] })
  end

  # The control and what it repeats stay, and so do those with few workers.
  def test_a_budget_that_is_too_small_leaves_configurations_out
    pilot = Cuttle::Lab::Runner::Pilot::Found.new(5.0, 400.0, "hybrid -t 5", 5)
    plan = Cuttle::Lab::Plan.build(Cuttle::Lab::Options.new(seed: 1), peers: LabFakes::Peers.new, pilot: pilot)
    assert_equal ["single", "hybrid -t 5", "fibers", "hybrid -t 5 (again)"], plan.configurations.map(&:name)
    assert_match(/3 of 7 configurations/, plan.cut.last)
  end

  # A request takes a slot 0.1 s. With 20 connections for 5 slots, a response takes 0.4 s.
  def test_runs_are_as_long_as_the_requests_need
    pilot = Cuttle::Lab::Runner::Pilot::Found.new(0.5, 50.0, "hybrid -t 5", 5)
    options = Cuttle::Lab::Options.new(seed: 1)
    plan = Cuttle::Lab::Plan.build(options, peers: LabFakes::Peers.new, pilot: pilot)
    assert_equal [0.4, 0.1], plan.loads.map { |load| pilot.response(load).round(9) }
    assert_equal 1.0, plan.duration
  end

  def test_a_block_has_everything_once_in_an_order_of_its_own
    plan = plan()
    orders = Array.new(4) { |number| plan.round(number).map { |start| start.configuration.id } }
    assert(orders.all? { |order| order.sort == plan.configurations.map(&:id).sort })
    assert_operator orders.uniq.length, :>, 1
    plan.round(0).each { |start| assert_equal plan.loads.map(&:id).sort, start.loads.map(&:id).sort }
  end

  def test_the_seed_alone_decides_the_order
    orders = [1, 1, 2].map do |seed|
      plan(seed: seed).round(3).map { |start| [start.configuration.id, start.loads.map(&:id)] }
    end
    assert_equal orders[0], orders[1]
    refute_equal orders[0], orders[2]
  end

  def test_open_loops_come_last
    loads = [10, nil, 20, nil].each_with_index.map do |rate, number|
      { "name" => "load #{number}", "loop" => rate ? "open" : "closed", "connections" => 1, "rate" => rate }
    end
    pairs = loads.map { |load| [compared("single", "single", "pair"), load] }
    plan = Cuttle::Lab::Plan::Declared.new(pairs, peers: LabFakes::Peers.new)
                                      .plan(seed: 1, rounds: 8, duration: 1, warmup: 0)
    orders = Array.new(8) { |number| plan.round(number).first.loads.map(&:name) }
    orders.each { |order| assert_equal ["load 1", "load 3"], order.first(2).sort }
    assert_equal 4, orders.uniq.length
  end

  def test_those_that_are_compared_start_one_after_the_other
    load = { "name" => "1 connection", "loop" => "closed", "connections" => 1 }
    pairs = 20.times.to_a.product(%w[single hybrid]).map do |number, model|
      [compared("#{model} #{number}", model, "pair #{number}"), load]
    end
    plan = Cuttle::Lab::Plan::Declared.new(pairs, peers: LabFakes::Peers.new)
                                      .plan(seed: 1, rounds: 1, duration: 1, warmup: 0)
    order = plan.round(0).map(&:configuration)
    assert_equal plan.configurations.map(&:id).sort, order.map(&:id).sort
    refute_equal plan.configurations, order
    assert(order.each_slice(2).all? { |one, other| one.base == other.base })
    assert_equal 2, order.each_slice(2).map { |one, _| one.model }.uniq.length
  end

  def test_what_is_declared_twice_is_one
    load = { "name" => "1 connection", "loop" => "closed", "connections" => 1 }
    fast, absent = compared("a", "hybrid", nil), compared("b", nil, nil).merge("server" => "falcon")
    plan = Cuttle::Lab::Plan::Declared.new([[fast, load], [fast, load.merge("path" => "/x")], [absent, load]],
                                           peers: LabFakes::Peers.new).plan(seed: 1, rounds: 1, duration: 1, warmup: 0)
    assert_equal [%w[c1 c2], { "c1" => %w[l1 l2], "c2" => %w[l1] }], [plan.configurations.map(&:id), plan.pairs]
    assert_equal({ "c2" => "falcon is not installed" }, plan.missing)
    first = plan.configurations.first
    assert_equal ["1.0", 5, RUBY_VERSION], [first.version, first.slots, first.ruby]
  end

  def test_it_is_the_same_when_read_back
    plan = plan(rounds: 3)
    header = { "type" => "lab", "schema" => "cuttle-lab/1", **plan.to_h }
    Dir.mktmpdir do |directory|
      Cuttle::Lab::Results::Store.create("#{directory}/lab", header).close
      again = Cuttle::Lab::Plan.of(Cuttle::Lab::Results.read("#{directory}/lab"))
      assert_equal plan.to_h, again.to_h
      assert_equal plan.round(1), again.round(1)
    end
  end

  # A server that makes an unfair comparison is not in a lab unless it is named.
  def test_variants_are_measured_where_they_are_asked_for
    names = lambda do |*servers|
      options = Cuttle::Lab::Options.new(engines: [], servers: servers, workers: [2], threads: [1], keep_alive: [true],
                                         seed: 1)
      Cuttle::Lab::Plan.build(options).configurations.reject(&:control_of).map(&:name)
    end
    assert_equal ["passenger -w 2"], names.call("passenger")
    assert_equal ["passenger turbocached -w 2"], names.call("passenger:turbocached")
    assert_equal ["haproxy random -w 2", "haproxy roundrobin -w 2", "haproxy leastconn -w 2"], names.call("haproxy")
    assert_empty names.call("all").grep(/cached/)
    assert_raises(Cuttle::UsageError) { names.call("passenger:cached") }
  end

  # Of our own engines: ractors and hybrid-auto are in "all", but not in what is measured by default.
  def test_all_engines_that_there_are
    configurations = lambda do |engines|
      options = Cuttle::Lab::Options.new(engines: engines, servers: [], workers: [2], seed: 1)
      plan = Cuttle::Lab::Plan.build(options)
      plan.configurations.reject(&:control_of).to_h { |each| [each.model, plan.missing[each.id]] }
    end
    variants = %w[ractors hybrid-auto]
    all = configurations.call(%w[all])
    assert_equal [*Cuttle::Engines.names, "hybrid-auto"].sort, all.keys.sort
    assert_equal all.keys - variants, configurations.call(nil).keys
    why = Cuttle::Engines.unavailable("ractors")
    assert_equal({ "ractors" => ("engine ractors #{why}" if why) }.compact, all.compact)
  end

  def test_unknown_names
    assert_raises(Cuttle::UsageError) { plan(engines: %w[warp]) }
    assert_raises(Cuttle::UsageError) { plan(servers: %w[apache]) }
    assert_raises(Cuttle::UsageError) { plan(engines: []) }
    assert_raises(Cuttle::UsageError) { plan(rubies: ["/no/such/ruby"]) }
  end

  def test_fairness_names_what_differs
    cores = Cuttle::Lab::Machine::Cores.new(server: [0], load: [1], allowed: [0, 1])
    app = Struct.new(:name).new("work")
    told = Cuttle::Lab::Plan::Fairness.new(plan, app: app, cores: cores).to_a.to_h { |entry| [entry["what"], entry] }
    refute told["slots"]["same"]
    assert_equal "1 to 10 requests at once, and without a bound: fibers, fibers -w 2", told["slots"]["detail"]
    assert told["keep-alive"]["same"]
    assert told["cores"]["same"]
  end

  private

  def compared(name, model, base)
    { "name" => name, "server" => "cuttle", "model" => model, "workers" => 0, "threads" => model == "hybrid" ? 5 : 1,
      "base" => base }
  end

  def plan(**options)
    Cuttle::Lab::Plan.build(Cuttle::Lab::Options.new(seed: 1, **options), peers: LabFakes::Peers.new)
  end
end

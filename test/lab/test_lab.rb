# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "stringio"

# `cuttle lab` from its beginning to its end: real servers, in very little time.
class TestLab < Minitest::Test
  include TemporaryDirectory

  ROOT = File.expand_path("../..", __dir__)
  # It waits, so that loads leave the processor to other tests.
  APP = <<~RUBY
    run ->(_env) { sleep(0.002); [200, { "content-type" => "text/plain" }, ["Hello, lab!"]] }
  RUBY
  QUICK = %w[--engines single,hybrid --workers 0 --threads 2 --rounds 2 --duration 100ms --warmup 0 --concurrency 1,3
             --seed 7].freeze
  # One model and its control, once.
  LEAST = %w[--engines single --workers 0 --rounds 1 --duration 100ms --warmup 0 --concurrency 1].freeze
  LOAD = { "id" => "l1", "name" => "1 connection", "loop" => "closed", "connections" => 1,
           "keep_alive" => false }.freeze

  def setup
    File.write(app, APP)
  end

  def test_it_measures_saves_and_reports
    out, err, status = lab(app, *QUICK)
    assert_equal 0, status, err
    assert_match(/hybrid -t 2 \(again\)/, out)
    assert_match(/requests\/s/, out)
    assert_includes out, "report.html"
    assert_match(/seed 7/, err)
    check(results)
    assert_operator File.size(File.join(results.directory, "report.html")), :>, 10_000
  end

  # From Ruby: a plan of one's own, in which a configuration has variables of its own.
  def test_a_plan_of_ones_own
    File.write(app, 'run ->(_) { [200, { "content-type" => "text/plain" }, ["x" * ENV.fetch("LENGTH", "1").to_i]] }')
    options = Cuttle::Lab::Options.new(app: app, directory: @directory, rounds: 1, duration: 0.1, warmup: 0, seed: 1)
    plain = Cuttle::Lab::Plan.build(options).configurations.first.to_h
    longer = plain.merge("id" => "c2", "name" => "longer", "environment" => { "LENGTH" => "20000" })
    measured = Cuttle::Lab::Results.read(Cuttle::Lab.run(options, out: StringIO.new, plan: plan_of([plain, longer])))
    octets = %w[c1 c2].map { |id| measured.runs(configuration: id).sum { |run| run["octets"].fdiv(run.responses) } }
    assert_operator octets.first, :<, 1000
    assert_operator octets.last, :>, 20_000
  end

  # 50 ms each way, and a connection for each request: two round trips.
  def test_a_load_that_comes_from_far_away
    options = Cuttle::Lab::Options.new(app: app, directory: @directory, rounds: 1, duration: 0.1, warmup: 0, seed: 1)
    configuration = Cuttle::Lab::Plan.build(options).configurations.first.to_h
    far = LOAD.merge("id" => "l2", "name" => "from far away", "delay" => 0.05, "requests" => 3)
    plan = plan_of([configuration], [LOAD.merge("requests" => 20), far])
    measured = Cuttle::Lab::Results.read(Cuttle::Lab.run(options, out: StringIO.new, plan: plan))
    near, far = %w[l1 l2].map { |id| measured.runs(load: id).first }
    assert_operator far.time("min"), :>=, 200
    assert_operator near.time("min"), :<, far.time("min")
    assert_equal 3, far.responses
  end

  # A file that ends in the middle of a line, as of a lab that was killed.
  def test_it_goes_on_where_one_was_killed
    assert_equal 0, lab(app, *QUICK).last
    path = results.path
    whole = File.readlines(path)
    runs = whole.grep(/"type":"run"/)
    File.write(path, [whole.first, *runs.first(5), runs[5][0, 100]].join)
    out, err, status = lab("--resume", results.directory)
    assert_equal 0, status, err
    assert_match(/12 runs/, out)
    check(results)
    assert_equal runs.first(5), File.readlines(path).grep(/"type":"run"/).first(5)
  end

  def test_an_interrupt_leaves_a_usable_result
    arguments = [app, *QUICK, "--rounds", "50"]
    Open3.popen3(environment, *command(*arguments), chdir: @directory) do |_in, out, err, thread|
      reader = Thread.new { err.read }
      Eventually.eventually("the first runs") { saved("run") > 2 }
      Process.kill(:INT, thread.pid)
      assert_match(/was not completed/, out.read)
      assert_equal 130, thread.value.exitstatus, reader.value
    end
    assert results.interrupted?
    assert_operator results.runs.length, :>, 2
    assert_empty servers
  end

  # It is served in its own directory, wherever the lab is.
  def test_an_app_finds_its_files
    File.write("#{@directory}/answer.rb", "ANSWER = [200, { 'content-type' => 'text/plain' }, ['hello']].freeze\n")
    File.write(app, "require './answer'\nrun ->(_env) { ANSWER }\n")
    elsewhere = File.join(@directory, "elsewhere")
    Dir.mkdir(elsewhere)
    _, err, status = lab(app, *LEAST, "--directory", "#{@directory}/lab-results", chdir: elsewhere)
    assert_equal 0, status, err
    assert_equal [true, true], results.runs.map(&:valid?)
  end

  def test_what_an_apps_bundle_keeps_out_is_listed
    File.write("#{@directory}/Gemfile", "source Gem.sources.first.uri.to_s\ngem 'no-such-gem-as-this'\n")
    _, err, status = lab(app, *LEAST)
    assert_equal 1, status
    assert_match(/left out: single: .*Gemfile: .*no-such-gem-as-this.*run bundle install there/, err)
  end

  def test_an_app_that_does_not_boot
    File.write(app, "def load_settings = raise('no database here')\nload_settings\n")
    _, err, status = lab(app, *LEAST)
    assert_equal 1, status
    assert_match(/\Acuttle: nothing could be measured: .*no database here/, err.lines.last)
    assert_empty servers
  end

  # The app kills its server under one of the two models only.
  def test_a_server_that_dies_costs_only_its_own_runs
    File.write(app, <<~RUBY)
      asked = 0
      single = File.read("/proc/self/cmdline").include?("single")
      run(lambda do |env|
        asked += 1 if env["HTTP_HOST"].include?(":") # by a load
        Process.kill(:KILL, Process.pid) if single && asked > 1
        [200, { "content-type" => "text/plain" }, ["Hello, lab!"]]
      end)
    RUBY
    _, err, status = lab(app, *QUICK)
    assert_equal 0, status, err
    assert(results.failures.any? { |failure| failure.configuration == "c1" })
    others = results.runs.reject { |run| run.configuration == "c1" }
    assert_equal 8, others.count(&:valid?)
    assert_match(/single/, err)
  end

  def test_json
    out, err, status = lab(app, *LEAST, "--json")
    assert_equal 0, status, err
    assert_kind_of Hash, JSON.parse(out)
  end

  def test_a_server_that_is_not_there_is_listed
    skip "falcon is installed" unless Cuttle::Lab::Servers::Peers.find("falcon").unavailable
    out, err, status = lab(app, *LEAST, "--servers", "falcon")
    assert_equal 0, status, err
    assert_match(/left out: falcon.*--install falcon/, err)
    assert_match(/not measured: falcon/, out)
  end

  def test_wrong_usage_begins_nothing
    { %w[--engines warp] => /\Acuttle: unknown engine warp/,
      %w[--mix no.jsonl] => /\Acuttle: --mix: no.jsonl: No such/ }
      .each do |arguments, message|
      _, err, status = lab(app, *arguments)
      assert_equal 2, status
      assert_match(message, err)
      refute File.exist?("#{@directory}/lab-results")
    end
  end

  private

  def plan_of(configurations, loads = [LOAD])
    Cuttle::Lab::Plan.new(configurations: configurations.map { |each| Cuttle::Lab::Results::Configuration.new(each) },
                          loads: loads.map { |each| Cuttle::Lab::Results::LoadSpec.new(each) }, missing: {}, seed: 1,
                          rounds: 1, duration: 0.1, warmup: 0, cut: [])
  end

  def app
    "#{@directory}/config.ru"
  end

  # Its own directory of temporary files: the lock is another than that of a lab which runs meanwhile.
  def environment
    FileUtils.mkdir_p("#{@directory}/tmp")
    { "TMPDIR" => "#{@directory}/tmp" }
  end

  def command(*arguments)
    [RbConfig.ruby, "-I#{ROOT}/lib", "-r#{__dir__}/support/any_speed.rb", "#{ROOT}/exe/cuttle", "lab", *arguments]
  end

  # [standard output, standard error, exit status]
  def lab(*arguments, chdir: @directory)
    *texts, status = Open3.capture3(environment, *command(*arguments), chdir: chdir)
    [*texts, status.exitstatus]
  end

  def results
    Cuttle::Lab::Results.read(Dir["#{@directory}/lab-results/*"].first)
  end

  def saved(type)
    Dir["#{@directory}/lab-results/*/results.jsonl"].sum { |path| File.readlines(path).grep(/"type":"#{type}"/).length }
  end

  # Three configurations (one of them the control), two loads, two rounds, each run valid and proved.
  def check(results)
    assert_equal ["single", "hybrid -t 2", "hybrid -t 2 (again)"], results.configurations.map(&:name)
    assert_equal 12, results.runs.length
    results.runs.each do |run|
      assert run.valid?, run.reasons.inspect
      assert run.proof.any?
      assert_operator run.server["pss_total"], :>, 1_000_000
      assert_operator run.server["cpu_us"], :>, 0
    end
    assert_operator results.runs.sum(&:rate), :>, 0 # on a loaded machine one run may be over before its first response
    refute results.interrupted?
    assert_empty results.damages
  end

  # Servers of this test's app that live.
  def servers
    Dir["/proc/[0-9]*/cmdline"].select do |path|
      File.read(path).include?(app)
    rescue SystemCallError
      false
    end
  end
end

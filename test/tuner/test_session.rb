# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "stringio"
require_relative "../lab/support/synthetic_lab"
require_relative "support/kept_runs"
require_relative "support/made_up"

# `cuttle tune` that measures: real servers, in very little time, so no figure means much.
class TestTuneMeasured < Minitest::Test
  include KeptRuns
  include MadeUp
  include TemporaryDirectory

  Tuner = Cuttle::Tuner

  # As lab/support/any_speed.rb does it for a program.
  def run = Cuttle::Load::Parts.stub(:core_speed, nil) { super }

  def setup
    @profile = "#{@directory}/profile.json"
    entry = Tuner::Profile::Entry.new(name: "GET /", cpu: 0.0005, wait: 0.02)
    facts = Cuttle::Lab::Machine.facts(Cuttle::Lab::Machine::Cores.new)
    Tuner::Profile.new(entries: [entry], environment: facts, boot: 0.1, app: { "name" => "work" }).write(@profile)
  end

  # Options of a tune of the work app that only verifies. For a low rate few settings are tried, under little load.
  def options(**given)
    Tuner::Options.new(work: { "cpu_ms" => 0.5, "iowait_ms" => 20, "response_chars" => 100 }, budget: 600, rounds: 2,
                       duration: 0.2, seed: 5, limits: Tuner::Limits.new(rate: 60.0),
                       kept: @profile, engines: %w[hybrid], present: Tuner::Setting.new(threads: 2), place: "a test",
                       directory: "#{@directory}/results", **given)
  end

  def session(folder, **given)
    Tuner::Session.new(folder, out: StringIO.new, **given)
  end

  def test_the_best_and_the_present_setting_are_verified
    before = Cuttle::Lab::Machine::Cores.allowed
    folder = Tuner::Folder.create(options)
    advice = session(folder).run
    assert advice.present.measured
    assert_equal "hybrid -t 2", advice.present.setting.name
    results = folder.verification
    assert_equal "hybrid -t 2", results.configurations.first.name
    assert_operator results.configurations.length, :>, 1
    assert_beside_each_other(results.configurations.map { |each| Tuner::Verification.setting(each) })
    assert_operator advice.checks.length, :>, 2
    assert_equal folder.options.present, advice.present.setting
    assert_corrected(folder)
    assert_equal before, Cuttle::Lab::Machine::Cores.allowed, "what measures pins this process"
    assert_equal advice.to_h, Tuner::Advice.read(folder.at("advice.json")).to_h
    assert_finished(folder, advice)
    assert_it_goes_on(folder)
  end

  # The best number of threads, and threads auto.
  def assert_beside_each_other(settings)
    auto = settings.find(&:auto?)
    assert(settings.any? { |each| !each.auto? && each.beside?(auto) }, settings.map(&:name).join(", "))
  end

  # Its own limit, five threads, is too low for an app that waits so long.
  def test_threads_auto_are_measured_with_the_limit_that_they_need
    auto = Tuner::Setting.new(threads: "auto")
    app = Tuner::Profile.read(@profile).with(entries: [{ name: "GET /", cpu: 0.01, wait: 0.2 }])
    found = Tuner::Search.new(Tuner::Model.new(app), app, limits: Tuner::Limits.new, engines: %w[hybrid], cores: 1,
                                                          present: auto).run
    present, number, raised = found.contenders(2, present: auto)
    assert_equal [auto, Tuner::Setting.new(threads: "auto", max_threads: number.threads)], [present, raised]
    assert_operator number.threads, :>, 16
  end

  # Their own -t auto runs as it does for them.
  def test_only_a_new_threads_auto_gets_the_pool_of_its_rival
    slow = Tuner::Profile.read(@profile).with(entries: [{ name: "GET /", cpu: 0.01, wait: 0.2 }])
    folder = Tuner::Folder.create(options(present: auto = Tuner::Setting.new(threads: "auto"),
                                          kept: slow.write("#{@directory}/slow.json"), limits: Tuner::Limits.new))
    planned = nil
    stopped = lambda do |_, plan:, **|
      planned = plan.configurations
      raise Tuner::Failure, "enough"
    end
    Cuttle::Lab.stub(:run, stopped) { assert_raises(Tuner::Failure) { session(folder).run } }
    own, others = planned.select { |each| each.model == "hybrid-auto" }.partition { |each| each.name == auto.name }
    assert_equal [nil], own.map(&:environment)
    assert_equal others.map { |each| each.flags.last }, others.map { |each| each.environment["RAILS_MAX_THREADS"] }
    refute_empty others
  end

  # The profile has the corrections that follow from the measurements. On a busy machine there may be none, because no
  # figure is precise enough: test_verified.rb has corrections.
  def assert_corrected(folder)
    profile = Tuner::Profile.read(folder.at("profile.json"))
    model = Tuner::Model.new(profile.with(corrections: []))
    cores = Tuner::Elsewhere.server_cores(folder.options, profile)
    assert_equal Tuner::Verified.new(folder.verification).corrections(model, cores: cores), profile.corrections
  end

  # What is finished measures nothing again.
  def assert_finished(folder, advice)
    before = File.mtime(folder.verification.path)
    assert_equal advice.to_h.except("taken_at"), session(folder).run.to_h.except("taken_at")
    assert_equal before, File.mtime(folder.verification.path)
  end

  # A verification that a crash ended is continued: its last round is measured again, and no round before.
  def assert_it_goes_on(folder)
    path = folder.verification.path
    lines = File.readlines(path)
    runs = lines.grep(/"type":"run"/)
    File.write(path, [lines.first, *runs.first(runs.length - 2)].join)
    session = session(folder)
    session.run
    refute session.interrupted?
    again = File.readlines(path).grep(/"type":"run"/)
    last = runs.count { |run| JSON.parse(run)["block"] == JSON.parse(runs.last)["block"] }
    assert_equal [runs.length - 2 + last, runs.first(runs.length - 2)], [again.length, again.first(runs.length - 2)]
    assert_equal runs.length, folder.verification.runs.length
    assert_equal 1, Dir["#{folder.path}/verification/*"].length
    assert_missing_rounds_are_made(folder, lines.first, runs)
  end

  # So is one whose time was over.
  def assert_missing_rounds_are_made(folder, header, runs)
    path = folder.verification.path
    done = runs.reject { |run| JSON.parse(run)["block"] == 1 }
    File.write(path, [header, *done, "#{JSON.generate("type" => "end", "interrupted" => false)}\n"].join)
    session(folder).run
    assert_equal runs.length, File.readlines(path).grep(/"type":"run"/).length
  end

  def test_the_verification_gets_what_is_left_of_the_budget
    budget = nil
    stopped = lambda do |lab, **|
      budget = lab.budget
      raise Tuner::Failure, "enough"
    end
    folder = Tuner::Folder.create(options(budget: 60))
    Cuttle::Lab.stub(:run, stopped) { assert_raises(Tuner::Failure) { session(folder).run } }
    assert_operator budget, :<=, 60 - Tuner::Session::Budget::SPARE
    assert_operator budget, :>, 0
  end

  # Of the settings that are verified first, none serves the rate of 60/s. The corrected model expects it of another.
  def test_an_answer_that_was_only_predicted_is_measured_too
    plans = []
    folder = Tuner::Folder.create(options)
    advice = Cuttle::Lab.stub(:run, made_lab(plans, others: 100.0)) { session(folder).run }
    first, second = plans.map { |plan| plan.configurations.map { |each| Tuner::Verification.setting(each) } }
    assert_equal [2, [advice.present, advice.choice].map(&:setting)], [plans.length, second]
    refute_includes first, advice.choice.setting
    assert_equal [:fits, true, true, 60.0], [advice.kind, advice.choice.measured, advice.present.measured,
                                             advice.demand.rate]
    assert_equal first.length + 1, advice.checks.map(&:setting).uniq.length, "what was measured first counts too"
    assert_in_delta 100.0 / 55, advice.gains[:capacity].value, 0.01
    again = Cuttle::Lab.stub(:run, ->(*) { flunk }) { session(folder).run }
    assert_equal advice.to_h.except("taken_at"), again.to_h.except("taken_at")
  end

  # The first verification takes nearly the whole budget.
  def test_a_prediction_is_the_answer_if_there_is_no_time_to_measure_it
    plans = []
    now = 1000.0
    lab = made_lab(plans, others: 100.0)
    slow = ->(*given, **named) { lab.call(*given, **named).tap { now += 590 } }
    advice = Cuttle.stub(:now, -> { now }) do
      Cuttle::Lab.stub(:run, slow) { session(Tuner::Folder.create(options)).run }
    end
    assert_equal [1, false], [plans.length, advice.choice.measured]
  end

  # Whatever is measured serves less than it is expected to.
  def test_further_measurements_come_to_an_end
    plans = []
    Cuttle::Lab.stub(:run, made_lab(plans, others: 55.0)) { session(Tuner::Folder.create(options)).run }
    assert_equal 1 + Tuner::Session::Verifications::FURTHER, plans.length
  end

  # A lab without servers: it adds its plan to +plans+. The settings of the first plan serve 55 requests a second.
  def made_lab(plans, others:)
    lambda do |lab, plan:, **|
      plans << plan
      known = plans.first.configurations.map(&:name)
      records = plan.configurations.each_with_index.flat_map do |configuration, index|
        capacity = known.include?(configuration.name) ? 55.0 : others
        Array.new(plan.rounds) do |round|
          [made_run(index + 1, "l1", round, capacity, 30.0, nil), made_run(index + 1, "l2", round, 60.0, 30.0, nil)]
        end.flatten
      end
      write_lab("#{lab.directory}/#{plans.length}", plan, [*records, { "type" => "end", "interrupted" => false }])
    end
  end

  # Returns the directory.
  def write_lab(directory, plan, records)
    header = { "type" => "lab", "schema" => Cuttle::Lab::Results::SCHEMA, "id" => "made-up", "command" => %w[cuttle],
               "environment" => MACHINE, "fairness" => [], **plan.to_h }
    store = Cuttle::Lab::Results::Store.create(directory, header)
    records.each { |record| store.append(record) }
    directory
  ensure
    store&.close
  end

  def test_waiting_for_another_lab_takes_no_time_of_the_budget
    lock = Cuttle::Lab::Runner::Lock
    waited = lock.waited
    now = 1000.0
    Cuttle.stub(:now, -> { now }) do
      budget = Tuner::Session::Budget.new(60, profile: nil)
      now += 40
      assert_in_delta 20 - Tuner::Session::Budget::SPARE, budget.left
      lock.stub(:waited, waited + 40) { assert_in_delta 60 - Tuner::Session::Budget::SPARE, budget.left }
    end
  end

  def test_an_error_names_the_budget_that_would_be_enough
    slow = Tuner::Profile.read(@profile).with(boot: 60.0).write("#{@directory}/slow.json")
    folder = Tuner::Folder.create(options(kept: slow, rounds: nil, budget: 60))
    error = assert_raises(Tuner::Failure) { session(folder).run }
    assert_match(/too short to verify .*: --budget \d+s would be enough.* --resume #{@directory}/, error.message)
    assert_equal 1, error.message.lines.length
  end

  # The search takes 30 s, and the profile 7 s and all of its share.
  def test_the_budget_that_it_names_is_enough
    folder = Tuner::Folder.create(given = options(kept: nil, rounds: nil, budget: 40))
    error = assert_raises(Tuner::Failure) { timed(folder) }.message
    assert_match(/--budget \d+s would be enough.* --resume \S+ --budget \d+s\z/, error)
    enough, again = error.scan(/--budget (\d+)s/).flatten.map(&:to_i)
    assert_verifies(Tuner::Folder.create(given.with(budget: enough)))
    still = assert_raises(Tuner::Failure) { timed(folder, budget: 30) }.message
    assert_equal [again], still.scan(/--budget (\d+)s/).flatten.map(&:to_i), "of a new tune nothing is known here"
    assert_verifies(folder, budget: again)
  end

  def assert_verifies(folder, **budget)
    verifying = ->(*, **) { raise Tuner::Failure, "it verifies" }
    error = Cuttle::Lab.stub(:run, verifying) { assert_raises(Tuner::Failure) { timed(folder, **budget) } }
    assert_equal "it verifies", error.message
  end

  # Runs a session whose time passes only in its profile and in its search.
  def timed(folder, **budget)
    now = 1000.0
    profiler = lambda do |*, **given|
      now += 7 + (given[:budget] * Tuner::Profiler::SHARE)
      Struct.new(:run, :interrupted?).new(Tuner::Profile.read(@profile), false)
    end
    searching = Tuner::Search.method(:new)
    slowly = ->(*all, **given) { searching.call(*all, **given).tap { now += 30 } }
    Cuttle.stub(:now, -> { now }) do
      Tuner::Search.stub(:new, slowly) { session(folder, profiler: profiler, **budget).run }
    end
  end

  def test_an_app_that_fails
    path = "#{@directory}/config.ru"
    File.write(path, 'raise "no database"')
    error = assert_raises(Cuttle::Error) { session(Tuner::Folder.create(options(app: path, work: {}))).run }
    assert_match(/no database/, error.message)
    assert_equal 1, error.message.lines.length
    error = assert_raises(Cuttle::Error) { session(Tuner::Folder.create(options(app: path, work: {}, kept: nil))).run }
    assert_match(/no database/, error.message)
  end

  def test_a_mix_with_errors
    path = "#{@directory}/config.ru"
    File.write(path, 'run ->(env) { sleep(0.01); [env["PATH_INFO"] == "/" ? 200 : 500, {}, ["x"]] }')
    File.write("#{@directory}/mix", "#{JSON.generate("path" => "/")}\n#{JSON.generate("path" => "/wrong")}\n")
    wrong = options(app: path, work: {}, mix: "#{@directory}/mix", rounds: 1)
    error = assert_raises(Cuttle::Error) { session(Tuner::Folder.create(wrong)).run }
    assert_match(/wrong answers: status_5xx/, error.message)
    error = assert_raises(Cuttle::Error) { session(Tuner::Folder.create(wrong.with(kept: nil))).run }
    assert_match(/500/, error.message)
    assert_equal 1, error.message.lines.length
  end

  # Ctrl-C after the first server: its results are reported, and --resume measures the rest.
  def test_an_interrupted_tune_goes_on
    command = %w[tune --work 0.5/20/100 --rate 60 --engines hybrid --rounds 2 --duration 200ms --directory results
                 --profile]
    out, err, status = interrupted(*command, @profile)
    assert_equal 130, status, err
    folder = Dir["#{@directory}/results/*"].first
    assert_includes err + out, "cuttle tune --resume results/#{File.basename(folder)}"
    before = Tuner::Folder.new(folder).verification.runs.length
    assert_operator before, :>, 0
    out, err = StringIO.new, StringIO.new
    assert_equal 0, Cuttle::CLI.new(out: out, err: err).run(["tune", "--resume", folder]), err.string
    assert_operator Tuner::Folder.new(folder).verification.runs.length, :>, before
    assert_match(/measured in 2 rounds/, out.string)
  end

  # [standard output, standard error, exit status] of a command that is interrupted when its second server starts.
  def interrupted(*arguments)
    any_speed = File.expand_path("../lab/support/any_speed.rb", __dir__)
    program = [RbConfig.ruby, "-I#{Cuttle::ROOT}/lib", "-r#{any_speed}", "#{Cuttle::ROOT}/exe/cuttle", *arguments]
    Open3.popen3(*program, chdir: @directory) do |_, out, err, process|
      text = +""
      text << err.readline until text.match?(%r{^2/\d+ })
      Process.kill("INT", process.pid)
      rest = Thread.new { err.read }
      [out.read, text << rest.value, process.value.exitstatus]
    ensure
      Process.kill("KILL", process.pid) if process.alive?
    end
  end

  # From the command line, with a profile of its own.
  def test_from_the_profile_to_the_page
    out, err = StringIO.new, StringIO.new
    status = Dir.chdir(@directory) do
      Cuttle::CLI.new(out: out, err: err).run(%w[tune --work 0.5/20/100 --rate 60 --budget 120s --rounds 2
                                                 --duration 200ms --engines hybrid --seed 3])
    end
    assert_equal 0, status, err.string
    assert_match(/^work, tune /, out.string)
    assert_match(/measured in \d+ rounds/, out.string)
    assert_path_exists "#{@directory}/#{out.string.lines.last.chomp}"
  end
end

# frozen_string_literal: true

require "test_helper"
require "stringio"
require_relative "support/kept_runs"
require_relative "support/made_up"

# `cuttle tune` as a user calls it, without measuring: kept profiles, wrong usage, files.
class TestTune < Minitest::Test
  include KeptRuns
  include MadeUp
  include TemporaryDirectory

  def setup
    @kept = profile(environment: here).write("#{@directory}/profile.json")
    FileUtils.mkdir_p("#{@directory}/app/config")
    File.write("#{@directory}/app/config.ru", 'run ->(_env) { [200, {}, ["hello"]] }')
  end

  def here
    Cuttle::Lab::Machine.facts(Cuttle::Lab::Machine::Cores.new)
  end

  # [standard output, standard error, exit status]
  def tune(*arguments)
    out, err = StringIO.new, StringIO.new
    status = Dir.chdir(@directory) { Cuttle::CLI.new(out: out, err: err).run(["tune", *arguments]) }
    [out.string, err.string, status]
  end

  def predict(*arguments)
    tune("--profile", @kept, "--no-verify", "--engines", "single,hybrid", *arguments)
  end

  def configure(text, name = "cuttle.rb")
    File.write("#{@directory}/app/config/#{name}", text)
  end

  def test_a_kept_profile_is_answered_without_measuring
    out, err, status = predict
    assert_equal 0, status, err
    assert_match(/\Amade up, tune /, out)
    assert_match(/ hybrid .*\(the defaults\)/, out)
    assert_match(/ at most \(predicted\b/, out)
    folder = File.dirname(out.lines.last.chomp)
    assert_path_exists "#{@directory}/#{folder}/report.html"
    shown, _, status = tune("show", folder)
    assert_equal [0, out], [status, shown]
    json, = tune("show", folder, "--json")
    assert_equal "cuttle-advice/1", JSON.parse(json)["schema"]
  end

  def test_the_present_setting_is_that_of_the_apps_files
    ask = ["app/config.ru", "--profile", @kept, "--what-if", "workers=2"]
    configure("workers 3\nthreads 1, 7\n", "puma.rb")
    assert_match(/^hybrid -w 3 -t 7 \(config\/puma\.rb\) /, tune(*ask).first)
    production = "if ENV['RAILS_ENV'] == 'production'\n  workers 5\nend\n"
    configure(production, "puma.rb")
    assert_match(/^hybrid -w 5 -t 5 \(config\/puma\.rb\) /, tune(*ask).first)
    configure(production)
    assert_match(/^hybrid -w 5 .*\(config\/cuttle\.rb\) /, tune(*ask).first)
    assert_nil ENV.fetch("RAILS_ENV", nil)
    configure("engine :single\nworkers 4\n")
    assert_match(/^single -w 4 \(config\/cuttle\.rb\) /, tune(*ask).first)
    configure("threads :auto\nmax_threads 12\n")
    assert_match(/^hybrid -t auto --max-threads 12 \(config\/cuttle\.rb\) /, tune(*ask).first)
    configure("workers 2\nthreads :auto\n")
    assert_match(/^hybrid -w 2 -t auto \(config\/cuttle\.rb\) /, tune(*ask).first)
    configure("threads 7\n")
    assert_match(/^hybrid -t 7 \(config\/cuttle\.rb\) /, tune(*ask).first)
  end

  def test_pumas_workers_may_be_auto_or_in_a_variable
    ask = ["app/config.ru", "--profile", @kept, "--what-if", "threads=2"]
    configure("threads 4\n", "puma.rb")
    assert_match(/^hybrid -w 6 -t 4 \(config\/puma\.rb\) /, concurrency("6") { tune(*ask).first })
    configure("workers 3\n", "puma.rb")
    assert_match(/^hybrid -w 3 -t 5 \(config\/puma\.rb\) /, concurrency("6") { tune(*ask).first })
    configure("workers :auto\nactivate_control_app\n", "puma.rb")
    out, err, status = Cuttle::Cluster::Cpus.stub(:count, 7) { tune(*ask) }
    assert_equal 0, status, err
    assert_match(/^hybrid -w 7 -t 5 \(config\/puma\.rb\) /, out)
  end

  # On a machine of three CPUs they are three, whatever this one has.
  def test_workers_auto_are_judged_on_the_cores_of_the_answer
    configure("workers :auto\nthreads 4\n")
    out, err, status = Cuttle::Cluster::Cpus.stub(:count, 7) { predict("app/config.ru", "--cores", "3") }
    assert_equal 0, status, err
    assert_match(/^hybrid -w 3 -t 4 \(you have\) /, out)
    assert_match(%r{hybrid -w 3 -t 4 \(config/cuttle\.rb, with workers auto for 3 cores\)}, out)
    configure("workers 4\nthreads 4\n")
    assert_match(%r{hybrid -w 4 -t 4 \(config/cuttle\.rb\)}, predict("app/config.ru", "--cores", "3").first)
  end

  def concurrency(number, &block)
    with_variable("WEB_CONCURRENCY", number, &block)
  end

  def with_variable(name, value)
    before, ENV[name] = ENV.fetch(name, nil), value
    yield
  ensure
    ENV[name] = before
  end

  # Puma reads it first.
  def test_pumas_file_may_be_for_production_only
    FileUtils.mkdir_p("#{@directory}/app/config/puma")
    configure("workers 3\nthreads 7, 7\n", "puma.rb")
    configure(text = "workers 0\nthreads 1, 1\n", "puma/production.rb")
    assert_refused(%r{cuttle import config/puma/production\.rb -o config/cuttle\.rb$}, "app/config.ru", "--write")
    out, err, status = predict("app/config.ru")
    assert_equal 0, status, err
    assert_match(%r{instead of hybrid -t 1 \(config/puma/production\.rb\): }, out)
    assert_match(/^\+threads [2-9].*^\(the file is Puma's: cuttle import /m, out)
    assert_equal text, File.read("#{@directory}/app/config/puma/production.rb")
  end

  # CUTTLE_CONFIG names it.
  def test_the_file_may_be_outside_of_the_apps_directory
    File.write(path = "#{@directory}/ours.rb", before = "workers 0\nthreads 1\n")
    _, err, status = with_variable("CUTTLE_CONFIG", path) { predict("app/config.ru", "--write") }
    assert_equal 0, status, err
    assert_match(/^cuttle: wrote #{path}$/, err)
    refute_equal before, File.read(path)
    assert_equal %w[config config.ru], Dir.children("#{@directory}/app").sort
  end

  # Only some Rubies have ractors that serve.
  def test_ractors_are_named_by_their_option
    configure("engine :ractors\nractors 4\nthreads 5\n")
    out, err, = Cuttle::Engines.stub(:unavailable, nil) do
      tune("app/config.ru", "--profile", @kept, "--what-if", "workers=2")
    end
    assert_match(/^ractors --ractors 4 -t 5 \(config\/cuttle\.rb\) /, out, err)
    assert_match(/^ractors --ractors 2 -t 5: /, out)
  end

  # As `cuttle serve` does.
  def test_without_a_name_the_app_is_that_of_this_directory
    configure("threads 7\n")
    FileUtils.cp_r("#{@directory}/app/.", @directory)
    ask = ["--profile", @kept, "--what-if", "workers=2"]
    assert_match(/^hybrid -t 7 \(config\/cuttle\.rb\) /, tune(*ask).first)
    assert_match(/^hybrid -t auto \(the defaults\) /, tune(*ask, "--app", "work").first)
    apps = [[], %w[--work 1/2/3], %w[app/config.ru]].map do |arguments|
      folder = File.dirname(predict(*arguments).first.lines.last.chomp)
      JSON.parse(File.read("#{@directory}/#{folder}/tune.json")).values_at("app", "command")
    end
    assert_equal ["#{@directory}/config.ru", "work", "#{@directory}/app/config.ru"], apps.map(&:first)
    assert_equal %w[config.ru --work app/config.ru].map { |word| [word, 1] },
                 %w[config.ru --work app/config.ru].zip(apps).map { |word, (_, words)| [word, words.count(word)] }
  end

  def test_an_answer_is_written_into_the_configuration
    configure("# ours\nworkers 0\nthreads 1 # one\n")
    _, err, status = predict("app/config.ru", "--write")
    assert_equal 0, status, err
    assert_match(/^-threads 1 # one$/, err)
    text = File.read("#{@directory}/app/config/cuttle.rb")
    assert_match(/\A# ours\nworkers \d\nthreads [2-9]\d* # one\n\z/, text)
    assert_match(/^workers +#{text[/workers (\d)/, 1]} /, check_of_serve)
  end

  def check_of_serve
    out = StringIO.new
    Dir.chdir("#{@directory}/app") { Cuttle::CLI.new(out: out, err: out).run(%w[check]) }
    out.string
  end

  def test_an_interrupted_tune_changes_no_file
    configure(before = "workers 0\nthreads 1\n")
    sessions = Cuttle::Tuner::Session.method(:new)
    stopped = lambda do |*all, **rest|
      sessions.call(*all, **rest).tap { |session| session.define_singleton_method(:interrupted?) { true } }
    end
    _, err, status = Cuttle::Tuner::Session.stub(:new, stopped) { predict("app/config.ru", "--write") }
    assert_equal [130, before], [status, File.read("#{@directory}/app/config/cuttle.rb")]
    folder = err[/^not written: cuttle tune show (\S+) --write writes it$/, 1]
    assert_equal 0, tune("show", folder, "--write").last
    refute_equal before, File.read("#{@directory}/app/config/cuttle.rb")
  end

  def test_what_could_not_be_written_is_refused_before_anything_is_measured
    configure("threads ENV.fetch('N', 3)\n")
    assert_refused(/config\/cuttle\.rb:1: threads depends on something/, "app/config.ru", "--write", status: 1)
    FileUtils.rm("#{@directory}/app/config/cuttle.rb")
    configure("workers 2\n", "puma.rb")
    assert_refused(/cuttle import config\/puma\.rb -o config\/cuttle\.rb/, "app/config.ru", "--write")
    assert_refused(/has no configuration file/, "--write")
  end

  # Its numbers are for our server.
  def test_pumas_file_is_shown_and_not_written
    configure(text = "workers 0\nthreads 1, 1\n", "puma.rb")
    out, err, status = predict("app/config.ru")
    assert_equal 0, status, err
    assert_match(/^\+threads [2-9].*^\(the file is Puma's: cuttle import /m, out)
    _, err, status = tune("show", File.dirname(out.lines.last.chomp), "--write")
    assert_equal 2, status
    assert_match(/^cuttle: --write: .* cuttle import config\/puma\.rb -o config\/cuttle\.rb$/, err)
    assert_equal text, File.read("#{@directory}/app/config/puma.rb")
  end

  # The answer is there. Only its page is not.
  def test_an_answer_is_shown_where_its_page_can_not_be_written
    folder = File.dirname((told = predict.first).lines.last.chomp)
    FileUtils.rm("#{@directory}/#{folder}/report.html")
    FileUtils.mkdir("#{@directory}/#{folder}/report.html.new")
    out, err, status = tune("show", folder)
    assert_equal [1, told.lines[0..-3].join], [status, out]
    assert_match(/\Acuttle: can't write .*report\.html: /, err)
    assert_equal "cuttle-advice/1", JSON.parse(tune("show", folder, "--json").first)["schema"]
  end

  # The configuration may have changed since.
  def test_a_resumed_tune_refuses_as_early
    configure("workers 0\nthreads 1\n")
    folder = File.dirname(predict("app/config.ru").first.lines.last.chomp)
    configure("threads ENV.fetch('N', 3)\n")
    out, err, status = tune("--resume", folder, "--write")
    assert_equal [1, ""], [status, out]
    assert_match(/\Acuttle: --write: .*config\/cuttle\.rb:1: threads depends on something/, err)
  end

  def assert_refused(pattern, *arguments, status: 2)
    out, err, found = predict(*arguments)
    assert_equal [status, ""], [found, out], err
    assert_match(pattern, err)
    refute_path_exists "#{@directory}/tune-results"
  end

  def test_limits_that_nothing_keeps
    out, err, status = predict("--memory", "1M")
    assert_equal 1, status, err
    assert_match(/^No setting keeps the limits\. single comes nearest: memory [\d.]+ MB, \d+ times the limit of 1/,
                 out)
    out, _, status = predict("--rate", "100k")
    assert_equal 1, status
    assert_match(%r{^No setting keeps the limits\. .* comes nearest: capacity .*/s, below the rate of 100,000/s}, out)
  end

  # A profile that ended early has no figures of memory.
  def test_a_warning_names_a_limit_that_could_not_be_checked
    bare = profile(environment: here, memory: nil).write("#{@directory}/bare.json")
    out, err, status = tune("--profile", bare, "--no-verify", "--engines", "hybrid", "--memory", "1M")
    assert_equal 0, status, err
    assert_match(/^! the profile has no figures of memory, so only measured settings were held to --memory: /, out)
    refute_match(/figures of memory/, tune("--profile", bare, "--no-verify", "--engines", "hybrid").first)
    refute_match(/figures of memory/, predict("--memory", "1G").first)
    assert_match(/^! the profile has no figures of database connections, so --db-connections had no effect: /,
                 predict("--db-connections", "10").first)
  end

  # The run with two workers failed, or came too late.
  def test_without_figures_of_workers_memory_limits_the_settings_without_workers
    profile(environment: here, memory: { "alone" => 40e6, "thread" => 1e6 }).write(@kept)
    out, err, status = predict("--memory", "41.5M")
    assert_equal 0, status, err
    assert_match(/^! the profile has no figures of the memory of workers, so of the settings with workers only /, out)
    answers = tune("--profile", @kept, "--what-if", "threads=3", "--what-if", "workers=2", "--memory", "41.5M")
    assert_equal ["cuttle: #{@kept} has no figures of the memory of workers: --memory has no effect on settings with " \
                  "workers\n"], answers[1].lines
    assert_match(/^hybrid -t 3: .*\n  .* it; breaks a limit: memory 42\.0 MB/, answers.first)
    assert_equal 2, answers.first.scan("breaks").length, "auto, and three threads"
  end

  def test_questions_to_a_kept_profile
    out, err, status = tune("--profile", @kept, "--what-if", "workers=2,threads=4,cores=2", "--what-if", "wait=2x")
    assert_equal 0, status, err
    assert_match(/^hybrid -t auto \(the defaults\)/, out)
    assert_match(/^hybrid -w 2 -t 4, 2 cores: \+\d+% capacity/, out)
    assert_match(/^hybrid -t auto, waiting 2x: -\d+% capacity/, out)
    refute_path_exists "#{@directory}/tune-results"
    assert_operator out.lines.drop(1).map { |line| line.chomp.length }.max, :<=, 120 # the first has the path of a file
    json, = tune("--profile", @kept, "--what-if", "workers=2", "--json")
    assert_equal ["hybrid -t auto (the defaults)", "hybrid -w 2 -t auto"].map { |name| name[/\S+ \S+ \S+/] },
                 JSON.parse(json).map { |each| each["name"][/\S+ \S+ \S+/] }
  end

  def test_questions_are_held_against_limits
    ask = ["--profile", @kept, "--what-if", "workers=8,threads=3", "--memory", "200M"]
    out, err, status = tune(*ask)
    assert_equal 0, status, err
    assert_match(/^hybrid -w 8 -t 3: .*\n  .* it; breaks a limit: memory 296 MB, 1\.48 times the limit of 200 MB$/, out)
    assert_equal 1, out.scan("breaks").length
    assert_equal ["cuttle: #{@kept} has no figures of database connections: --db-connections has no effect\n"],
                 tune(*ask, "--db-connections", "5")[1].lines
    assert_equal [[], ["memory"]], JSON.parse(tune(*ask, "--json").first).map { |each| each["excess"].keys }
  end

  # Otherwise a user might believe that it was measured, or written.
  def test_questions_take_no_options_of_a_measurement
    [%w[--write], %w[--budget 1m], %w[--resume x], %w[--mix m.jsonl], %w[--from a.log],
     %w[--header a:b]].each do |option, *value|
      _, err, status = tune("--what-if", "workers=2", option, *value)
      assert_equal [2, "cuttle: --what-if measures and writes nothing: leave out #{option}\n"],
                   [status, err.lines.first]
    end
  end

  # The app computes for 5.2 ms and waits for 25.
  def test_questions_about_threads_auto_say_what_they_are_taken_for
    configure("threads 3\n")
    ask = ["app/config.ru", "--profile", @kept, "--cores", "1"]
    out, err, status = tune(*ask, "--what-if", "threads=auto")
    assert_equal 0, status, err
    assert_match(/^hybrid -t auto: \+\d+% capacity.*\n  .* limits? it; forecast as -t \d+$/, out)
    number = out[/forecast as -t (\d+)/, 1]
    auto, same = JSON.parse(tune(*ask, "--what-if", "threads=auto", "--what-if", "threads=#{number}", "--json").first)
                     .drop(1)
    assert_equal ["auto", number.to_i], [auto, same].map { |each| each["setting"]["threads"] }
    assert_equal same["setting"], auto["stand_in"]
    assert_equal(*[auto, same].map { |each| each.slice("capacity", "p95", "memory") })
  end

  # Its limit is high enough, so nothing speaks against it without a measurement.
  def test_an_app_with_threads_auto_gets_an_answer_with_them
    profile(environment: here, wait: 0.01).write(@kept)
    configure("threads :auto # as they help\nworkers 0\n")
    out, err, status = predict("app/config.ru", "--cores", "2", "--write")
    assert_equal 0, status, err
    assert_match(/^Run hybrid -w \d -t auto instead of hybrid -t auto \(config\/cuttle\.rb\)/, out)
    assert_match(/\Athreads :auto # as they help\nworkers [1-9]\n\z/, File.read("#{@directory}/app/config/cuttle.rb"))
    check = ["check", "app/config.ru", "--profile", @kept, "--no-verify", "--engines", "single,hybrid", "--cores", "2"]
    assert_equal 0, tune(*check).last
  end

  # No database pool is known, so auto stops at five threads.
  def test_an_app_that_waits_a_lot_gets_a_higher_limit_of_threads_auto
    waiting.with(environment: here).write(@kept)
    configure("threads :auto # as they help\nworkers 0\n")
    check = ["check", "app/config.ru", "--profile", @kept, "--no-verify", "--engines", "single,hybrid", "--cores", "1"]
    assert_equal 3, tune(*check).last
    out, err, status = predict("app/config.ru", "--cores", "1", "--write")
    assert_equal 0, status, err
    assert_match(/^Run hybrid -t auto --max-threads \d\d instead of hybrid -t auto .*: [34]\.\d+ times the /, out)
    assert_match(/^Threads: -t auto stops at 5, because no database pool is known: 23\.8.*\(predicted as -t 5\)/, out)
    assert_match(/\Athreads :auto # as they help\nworkers 0\nmax_threads \d\d\n\z/,
                 File.read("#{@directory}/app/config/cuttle.rb"))
    assert_equal 0, tune(*check).last
  end

  # That a setting was measured makes no difference between it and another.
  def test_questions_are_answered_with_the_models_differences
    have = { setting: setting("hybrid", 0, 3).to_h, demand: { connections: 20, rate: nil },
             forecast: { rate: 100.0 }, measured: { rate: 80.0 } }
    kept = profile(environment: here, corrections: [have]).write("#{@directory}/corrected.json")
    configure("threads 3\n")
    base, other = JSON.parse(tune("app/config.ru", "--profile", kept, "--what-if", "threads=6", "--json").first)
                      .map { |each| each["capacity"]["value"] }
    model = Tuner::Model.new(profile(environment: here))
    three, six = [3, 6].map { |threads| model.capacity(setting("hybrid", 0, threads)).first }
    assert_in_delta 0.8, base / three, 1e-9
    assert_in_delta six / three, other / base, 1e-9
  end

  def test_questions_start_from_the_last_tune
    _, err, status = tune("--what-if", "workers=2")
    assert_equal 2, status
    assert_match(/no kept profile in tune-results/, err)
    configure("threads 3\n")
    predict("app/config.ru")
    out, err, status = tune("--what-if", "workers=5")
    assert_equal 0, status, err
    assert_match(/\(the answer\)/, out)
    assert_match(/^hybrid -w 5 -t \d+/, out)
  end

  def test_a_warning_names_a_profile_of_another_machine
    @kept = profile(environment: here.merge("cpu" => "Abacus", "memory" => 5_000_000)).write("#{@directory}/other.json")
    out, = predict
    assert_match(/^! the profile was made on another machine \(cpu: Abacus there, .* here; memory: 5\.00 MB there/, out)
    assert_match(/was made on another machine: cpu: Abacus/, tune("--profile", @kept, "--what-if", "workers=2")[1])
  end

  def test_a_warning_names_a_profile_of_another_app
    app = { "name" => "shop/config.ru", "path" => "/srv/shop/config.ru" }
    @kept = profile(environment: here).with(app: app).write("#{@directory}/shop.json")
    assert_match(/^! the profile was measured with another app: shop\/config\.ru, and not app\/config\.ru$/,
                 predict("app/config.ru").first)
    @kept = profile(environment: here).with(app: { **app, "name" => "app/config.ru" }).write("#{@directory}/own.json")
    refute_match(/another app/, predict("app/config.ru").first)
  end

  # The memory of a virtual machine isn't the same at each start.
  def test_a_difference_that_is_not_seen_is_none
    @kept = profile(environment: here.merge("memory" => here["memory"] + 4096)).write("#{@directory}/again.json")
    refute_match(/another machine/, predict.first)
    assert_empty tune("--profile", @kept, "--what-if", "workers=2")[1]
  end

  # It may be resumed after an upgrade.
  def test_a_resumed_tune_warns_of_a_profile_of_another_machine
    folder = File.dirname(predict.first.lines.last.chomp)
    path = "#{@directory}/#{folder}/profile.json"
    File.write(path, File.read(path).sub(/"ruby": "[^"]*"/, '"ruby": "ruby 1.8.7"'))
    assert_match(/^! the profile was made on another machine \(ruby: ruby 1\.8\.7 there, /,
                 tune("--resume", folder).first)
  end

  # Results of two apps can't be combined.
  def test_a_tune_is_not_resumed_if_the_app_changed
    configure("threads 3\n")
    folder = File.dirname(predict("app/config.ru").first.lines.last.chomp)
    %w[config.ru config/cuttle.rb app.rb config/database.yml Gemfile].each do |name|
      with_change("#{@directory}/app/#{name}") { assert_not_resumed(folder, name) }
    end
    assert_equal 0, tune("--resume", folder).last
    state = "#{@directory}/#{folder}/tune.json"
    File.write(state, File.read(state).sub(/"Ruby": "[^"]*"/, '"Ruby": "ruby 1.8.7"'))
    assert_not_resumed(folder, "Ruby")
  end

  # Bundler makes the lock when it first loads the app.
  def test_a_lock_that_bundler_made_is_no_change_of_the_app
    File.write("#{@directory}/app/Gemfile", "")
    folder = File.dirname(predict("app/config.ru").first.lines.last.chomp)
    File.write("#{@directory}/app/Gemfile.lock", "GEM\n")
    assert_equal 0, tune("--resume", folder).last
    folder = File.dirname(predict("app/config.ru").first.lines.last.chomp)
    with_change("#{@directory}/app/Gemfile.lock") { assert_not_resumed(folder, "Gemfile.lock") }
  end

  def with_change(path)
    before = File.read(path) if File.exist?(path)
    File.write(path, "#{before}# changed\n")
    yield
  ensure
    before ? File.write(path, before) : FileUtils.rm_f(path)
  end

  def assert_not_resumed(folder, name)
    out, err, status = tune("--resume", folder)
    assert_equal [1, "", 1], [status, out, err.lines.length], name
    assert_match(/\Acuttle: can't resume in \S+: #{name} changed since .* Begin again: cuttle tune --profile /, err)
  end

  def test_more_cores_than_there_are_is_an_extrapolation
    configure("threads 3\n")
    out, = predict("app/config.ru", "--cores", "64")
    assert_match(/^! the server has \d+ cores? here: the model extrapolates the results for 64 cores$/, out)
    assert_match(/\(extrapolated\)/, out)
  end

  def test_a_check_passes_or_fails
    configure("workers 0\nthreads 1\n")
    check = ["check", "app/config.ru", "--profile", @kept, "--no-verify", "--engines", "single,hybrid"]
    _, err, status = tune(*check)
    assert_equal 3, status, err
    assert_match(/^cuttle: hybrid .* serves .* times as much as hybrid -t 1: more than 10% is lost$/, err)
    assert_equal 0, tune(*check, "--worse", "99%").last
    assert_equal 1, tune(*check, "--memory", "1M").last
    rate = JSON.parse(tune(*check, "--json").first).dig("present", "capacity", "value") * 1.01
    _, err, status = tune(*check, "--rate", format("%.3f", rate), "--worse", "90%")
    assert_equal 0, status, err
    assert_match(%r{^cuttle: can't tell whether hybrid -t 1 keeps a limit: capacity .*/s, limit .*/s$}, err)
  end

  def test_a_mix_of_a_browser_or_a_log
    entries = [{ "method" => "GET", "url" => "https://example.org/a?b=1", "headers" => [] },
               { "method" => "POST", "url" => "https://example.org/c", "postData" => { "text" => "\u00e9" } },
               { "method" => "GET", "url" => "https://elsewhere.example/", "headers" => [] }]
    entries.map! { |request| { "request" => request } }
    File.write("#{@directory}/a.har", JSON.generate("log" => { "entries" => entries }))
    told = nil
    said = capture_io { told = predict("--har", "a.har") }.last
    out, err, status = told
    assert_equal 0, status, err
    assert_equal ["a.har: 1 left out: to other hosts than example.org\n",
                  "a.har: 1 request may change data, thousands of times (the first is POST /c)\n"], said.lines
    mix = "#{@directory}/#{File.dirname(out.lines.last.chomp)}/mix.jsonl"
    assert_equal [%w[GET /a?b=1], %w[POST /c]], Cuttle::Load::Mix.read(mix).map { |each| [each.method, each.path] }
    assert_equal "\u00e9".b, Cuttle::Load::Mix.read(mix).last.body
  end

  # The file may change before the tune goes on.
  def test_a_mix_is_kept_beside_the_results
    File.write("#{@directory}/mix", "#{JSON.generate("path" => "/a")}\n")
    assert_match(/--path, --mix, --har or --from: one of them$/, predict("--mix", "mix", "--path", "/b")[1])
    out, err, status = predict("--mix", "mix")
    assert_equal 0, status, err
    folder = Cuttle::Tuner::Folder.new("#{@directory}/#{File.dirname(out.lines.last.chomp)}")
    File.write("#{@directory}/mix", "#{JSON.generate("path" => "/b")}\n")
    assert_equal ["/a"], Cuttle::Load::Mix.read(folder.options.mix).map(&:path)
  end

  # As the proxy in front of the app does. A mix keeps what else it says.
  def test_fields_for_each_request
    line = { "path" => "/a", "name" => "a", "check" => ["x"], "headers" => { "x-one" => "own" } }
    File.write("#{@directory}/some.jsonl", JSON.generate(line))
    fields = ["-H", "X-One: 1", "--header", "Cookie: a=b"]
    made, own = [%w[--path /p], %w[--mix some.jsonl]].map do |arguments|
      out, err, status = predict("app/config.ru", *arguments, *fields)
      assert_equal 0, status, err
      Cuttle::Load::Mix.read("#{@directory}/#{File.dirname(out.lines.last.chomp)}/mix.jsonl").first
    end
    assert_equal ["/p", [%w[X-One 1], %w[Cookie a=b]]], [made.path, made.headers]
    assert_equal ["/a", "a", ["x"], [%w[Cookie a=b], %w[x-one own]]], [own.path, own.name, own.check, own.headers]
    assert_match(/--header: work is one of our apps/, predict("--work", "1/2/3", *fields)[1])
  end

  def test_wrong_usage
    File.write("#{@directory}/bad.har", "[]")
    [%w[--engines none], %w[--rate 0], %w[--p99 soon], %w[--cores 0], %w[--cores 1025], %w[--memory 5X], %w[a.ru b.ru],
     %w[--app work a.ru], %w[--budget 5s], %w[--har bad.har], %w[--har bad.har --mix x], %w[--from none.log],
     %w[--worse 200%], %w[--what-if x], %w[--resume x --rate 5], %w[show], %w[show a b], %w[show --x a],
     %w[check --what-if workers=1], %w[check --write], %w[--seed x], %w[--db-connections -1], %w[none.ru],
     %w[none/config.ru], %w[-H x], ["app/config.ru", "-H", "a b: c"], %w[--resume x -H a:b], %w[--app none],
     %w[--mix none.jsonl], %w[--mix bad.har], %w[app/config.ru --work 1/2/3]].each do |arguments|
      out, err, status = tune(*arguments)
      assert_equal [2, ""], [status, out], "#{arguments}: #{err}"
      assert_match(/\Acuttle: .+\nUsage: cuttle tune --help\n\z/, err, arguments.join(" "))
    end
    refute_path_exists "#{@directory}/tune-results"
    assert_match(/\Acuttle: --db-connections: above 0, not 0$/, tune("--db-connections", "0")[1])
    [%w[--profile none.json --no-verify], %w[--resume none], %w[--resume bad.har], %w[show none],
     %w[show bad.har]].each do |arguments|
      _, err, status = tune(*arguments)
      assert_equal 1, status, "#{arguments}: #{err}"
      assert_equal 1, err.lines.length, err
    end
  end

  def test_help
    out, _, status = tune("--help")
    assert_equal 0, status
    %w[--memory --what-if --resume --db-connections].each { |option| assert_includes out, option }
    assert_includes tune("show", "--help").first, "--write"
  end
end

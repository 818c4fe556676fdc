# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"

# The command line of `cuttle lab`, and what it may ask for.
class TestLabOptions < Minitest::Test
  def test_nothing_asks_for_the_main_job
    options = parse
    assert_equal "work", options.app
    assert_equal [0, 2], options.workers
    assert_equal [[20], [], [0.6], true], [options.concurrency, options.rates, options.shares, options.poisson]
    assert_equal 120, options.budget
    assert_equal({ "cpu_ms" => 2, "iowait_ms" => 10, "response_chars" => 1000 }, options.profile)
  end

  def test_rounds_or_a_duration_are_kept_whatever_time_they_take
    assert_nil parse("--rounds", "3").budget
    assert_nil parse("--duration", "3s").budget
    assert_equal 6, parse("--duration", "3s").rounds
    assert_equal 600, parse("--rounds", "3", "--budget", "10m").budget
  end

  def test_axes
    options = parse("--engines", "hybrid,single", "--servers", "puma,thin:threaded", "--workers", "1,2,1",
                    "--threads", "1,16", "--keep-alive", "both", "--concurrency", "7")
    assert_equal %w[hybrid single], options.engines
    assert_equal %w[puma thin:threaded], options.servers
    assert_equal [1, 2], options.workers
    assert_equal [1, 16], options.threads
    assert_equal [false, true], options.keep_alive
    assert_equal [7], options.concurrency
  end

  def test_a_rate_alone_takes_the_place_of_the_closed_loop
    options = parse("--rate", "100,1k", "--poisson")
    assert_equal [100.0, 1000.0], options.rates
    assert_empty options.concurrency
    assert options.poisson
    assert_equal [3], parse("--rate", "100", "--concurrency", "3").concurrency
  end

  def test_a_rate_may_be_a_share_of_what_is_served
    options = parse("--rate", "50%,100,80%")
    assert_equal [[100.0], [0.5, 0.8], [], false], [options.rates, options.shares, options.concurrency, options.poisson]
    assert_predicate options, :pilot?
    refute_predicate parse("--rate", "100", "--rounds", "3"), :pilot?
    assert_predicate parse("--rate", "100", "--budget", "1m"), :pilot?
  end

  def test_a_profile_has_sizes_and_names
    assert_equal({ "cpu_ms" => "5", "iowait_ms" => "20", "response_chars" => "1000" },
                 parse("--profile", "5/20/1000").profile)
    assert_equal({ "cpu_ms" => "5", "cv" => "0.5" }, parse("--profile", "5,cv=0.5").profile)
    assert_equal({ "cpu_ms" => "5", "upstream" => true }, parse("--profile", "5,upstream").profile)
    assert_equal({ "upstream" => "http://localhost/" }, parse("--profile", "upstream=http://localhost/").profile)
  end

  def test_cpus
    assert_equal({ server: [0, 1, 2], load: [3] }, parse("--cpus", "server:0-2 load:3").cpus)
    assert_equal({ server: [0], load: [1] }, parse("--cpus", "server:0,load:1").cpus)
  end

  def test_the_command_that_reproduces_it_has_one_seed
    assert_equal %w[cuttle lab --rounds 3], parse("--rounds", "3", "--seed", "7").command
    assert_equal %w[cuttle lab --rounds 3], parse("--seed=7", "--rounds", "3").command
    assert_equal 7, parse("--seed=7").seed
  end

  def test_an_error_names_the_problem_in_one_line
    { %w[--rounds 0] => /--rounds: a whole number from 1 on/, %w[--workers two] => /--workers: whole numbers/,
      %w[--threads 0] => /--threads: a whole number from 1/, %w[--profile 5/x] => %r{--profile: CPU/IO/SIZE},
      %w[--cpus 0] => /--cpus: server:0,load:1/, %w[--duration 0s] => /--duration: a time above 0/,
      %w[--keep-alive maybe] => /--keep-alive maybe/, %w[--concurrency 3 --poisson] => /--poisson is for --rate/,
      %w[--rate x%] => /--rate: requests per second, or a share such as 60%, not x%/,
      %w[--rate 0%] => /--rate: above 0%/,
      %w[a.ru b.ru] => /one app only/, %w[a.ru --app work] => /not both/, %w[--frobnicate] => /--frobnicate/,
      %w[--workers 100000] => /at most 256/ }.each do |arguments, message|
      error = assert_raises(Cuttle::UsageError, arguments.join(" ")) { parse(*arguments) }
      assert_match message, error.message
      refute_includes error.message, "\n"
    end
  end

  def test_resume_needs_results_and_nothing_else
    assert_raises(Cuttle::UsageError) { parse("--resume", "nowhere", "--rounds", "3") }
    error = assert_raises(Cuttle::Lab::Failure) { parse("--resume", "nowhere") }
    assert_match(/no results in nowhere/, error.message)
  end

  def test_only_what_cuttle_lab_measured_is_resumed
    Dir.mktmpdir do |directory|
      header = { "type" => "lab", "schema" => "cuttle-lab/1", "configurations" => [], "loads" => [], "seed" => 1,
                 "command" => %w[cuttle study s1 --seed 1] }
      File.write("#{directory}/results.jsonl", "#{JSON.generate(header)}\n")
      error = assert_raises(Cuttle::UsageError) { parse("--resume", directory) }
      assert_match(/is not a lab, but belongs to cuttle study\z/, error.message)
    end
  end

  def test_the_command_is_known_and_helps
    out = StringIO.new
    assert_equal 0, Cuttle::CLI.new(out: out, err: out).run(%w[lab --help])
    assert_match(/--engines/, out.string)
    assert_operator out.string.lines.map { |line| line.chomp.length }.max, :<=, 130
  end

  private

  def parse(*arguments)
    require "cuttle/cli/lab"
    Cuttle::CLI::Lab::Options.parse(arguments).to_lab
  end
end

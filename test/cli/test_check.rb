# frozen_string_literal: true

require "test_helper"
require "cuttle/cli/check"

# `cuttle check`, and what `cuttle serve` does with a configuration file.
class TestCheck < Minitest::Test
  include Serving
  include TemporaryDirectory

  def setup
    File.write("#{@directory}/config.ru", "run ->(_env) { [200, {}, ['from the rackup file']] }")
  end

  def test_every_setting_has_its_value_and_where_that_comes_from
    configure("bind 'tcp://127.0.0.1:0'\n\nmax_queue 9")
    out, = check("-C", @file, "-t", "1:5", "--like", "puma")
    lines = out.lines.to_h { |line| line.chomp.split(/ {2,}/, 3).then { |name, *rest| [name, rest] } }
    assert_equal Cuttle::Settings::NAMES.map(&:to_s), lines.keys
    assert_equal ["tcp://127.0.0.1:0", "#{@file}:1"], lines["binds"]
    assert_equal ["9", "#{@file}:3"], lines["max_queue"]
    assert_equal %w[1:5 --threads], lines["threads"]
    assert_equal ["hybrid", "--like puma"], lines["engine"]
    assert_equal %w[none default], lines["queue_timeout"]
    assert_equal %w[off default], lines["debug"]
  end

  def test_threads_as_they_help
    configure("threads :auto\nmax_threads 7")
    lines = check("-C", @file).first.lines.map { |line| line.chomp.split(/ {2,}/) }
    assert_includes lines, ["threads", "auto", "#{@file}:1"]
    assert_includes lines, ["max_threads", "7", "#{@file}:2"]
  end

  def test_a_limit_of_threads_that_do_not_come_as_they_help
    configure("max_threads 7\nthreads 5")
    assert_equal ["", "cuttle: #{@file}:1: max_threads needs threads :auto\nUsage: cuttle check --help\n", 2],
                 check("-C", @file)
    ["threads :auto\nmax_threads 7", "max_threads 7"].each do |text|
      configure(text)
      [[], %w[-t 5], %w[--engine reactor], %w[--like puma]].each do |flags|
        assert_equal 0, check("-C", @file, *flags).last, flags
      end
    end
  end

  def test_what_is_wrong
    configure("workerz 2")
    assert_equal ["", "cuttle: #{@file}:1: unknown word workerz: did you mean workers?\n" \
                      "Usage: cuttle check --help\n", 2], check("-C", @file)
    assert_equal 1, check("-C", "/no/such").last
    assert_equal 2, check("--threads", "x").last
  end

  def test_serve_takes_the_file
    configure("bind 'tcp://127.0.0.1:0'\nengine 'threads'\nenvironment 'staging'\ndirectory '#{@directory}'")
    serving_process("-C", @file) do |process|
      assert_match(/^  settings +#{Regexp.escape(@file)}$/, process.out)
      assert_match(/^  engine +threads$/, process.out)
      assert_match(/^  environment +staging$/, process.out)
      assert_equal "from the rackup file", get(process).body
    end
  end

  def test_serve_says_that_threads_come_as_they_help
    configure("threads :auto\nmax_threads 7")
    [0, 1].each do |workers|
      serve("-C", @file, "-w", workers.to_s) do |process|
        assert_match(/^  threads +auto \(3 to 7\)$/, process.out)
      end
    end
    serve("-C", "-", "-t", "auto", "-w", "1") do |process|
      assert_match(/^  threads +auto \(3 to \d+, by the database pool\)$/, process.out)
      assert_includes process.err, "no database pool is known, so -t auto starts at most 5 threads; "
    end
    serve("-C", "-", "-t", "auto") do |process|
      assert_match(/^  threads +auto \(3 to 5\)$/, process.out)
    end
  end

  def test_serve_says_what_the_database_pool_allows
    File.write("#{@directory}/config.ru", <<~RUBY)
      Sequel = Module.new
      Sequel::DATABASES = [Struct.new(:pool).new(Struct.new(:max_size).new(2))].freeze
      run ->(_env) { [200, {}, ['hello']] }
    RUBY
    serve("-C", "-", "-t", "auto") do |process|
      assert_match(/^  threads +auto \(2\)$/, process.out)
      assert_includes process.err, "has 2 connections, so -t auto starts at most 2 threads"
    end
  end

  def test_an_app_of_the_file_counts_unless_a_path_is_given
    configure("app { |_env| [200, {}, ['from the file']] }")
    serving_process("-C", @file, forked: true) { |process| assert_equal "from the file", get(process).body }
    serve("-C", @file) { |process| assert_equal "from the rackup file", get(process).body }
  end

  def test_serve_warns_that_it_does_not_read_pumas_file
    FileUtils.mkdir("#{@directory}/config")
    File.write("#{@directory}/config/puma.rb", "raise 'no'")
    told = "cuttle: config/puma.rb is not read; convert it: cuttle import config/puma.rb -o config/cuttle.rb\n"
    serving_process(chdir: @directory, forked: true) { |process| assert_equal told, process.err }
    File.write("#{@directory}/config/cuttle.rb", "threads 2")
    serving_process(chdir: @directory, forked: true) do |process|
      assert_match(/^  threads +2:2$/, process.out)
      assert_equal "", process.err
    end
  end

  def test_serve_ends_at_a_file_that_is_wrong_before_it_listens
    configure("bind 'tcp://127.0.0.1:0'\nraise 'no'")
    _, err, status = run_cuttle("serve", "-C", @file)
    assert_equal ["cuttle: #{@file}:2: no (RuntimeError)\n", 1], [err, status]
  end

  private

  def configure(text)
    @file = "#{@directory}/cuttle.rb"
    File.write(@file, text)
  end

  def serve(*args, &block) = serving_process("#{@directory}/config.ru", *args, forked: true, &block)

  def check(*arguments) = run_cuttle("check", *arguments)

  # [stdout, stderr, exit status] of a command.
  def run_cuttle(*arguments)
    out = StringIO.new
    err = StringIO.new
    status = Cuttle::CLI.new(out: out, err: err).run(arguments)
    [out.string, err.string, status]
  end
end

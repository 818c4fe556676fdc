# frozen_string_literal: true

require "test_helper"
require "open3"
require "stringio"

class TestCLI < Minitest::Test
  def test_version
    status, out, err = cuttle("version")
    assert_equal [0, ""], [status, err]
    assert_match(/\Acuttle #{Regexp.escape(Cuttle::VERSION)} \(ruby #{RUBY_VERSION}, /, out)
  end

  # -v is Puma's for a log of requests.
  VERSION = [%w[--version], %w[-V], %w[-v], %w[--vers], %w[serve --version], %w[serve --vers], %w[serve -V],
             %w[serve -v -V], %w[serve --engine jet --version], %w[lab peers -V], %w[load self-test -V],
             *%w[load lab tune advise study].product(%w[--version --vers -V -v])].freeze

  def test_spellings_of_version
    VERSION.each { |arguments| assert_equal cuttle("version"), cuttle(*arguments), arguments.join(" ") }
  end

  # In a process that has loaded no other command.
  def test_serves_version_in_a_process_of_its_own
    out, status = Open3.capture2e(RbConfig.ruby, "-Ilib", "exe/cuttle", "serve", "--version", chdir: Serving::ROOT)
    assert_equal [cuttle("version")[1], 0], [out, status.exitstatus]
  end

  def test_spellings_of_help
    %w[serve load lab tune advise study].product(%w[--help --hel -h]).each do |command, spelling|
      assert_equal cuttle("help", command), cuttle(command, spelling), "#{command} #{spelling}"
    end
    ["--hel", "-h", "help --help", "help -V", "help help"].each do |arguments|
      assert_equal cuttle("help"), cuttle(*arguments.split), arguments
    end
  end

  def test_help_names_every_command
    ["--help", "help", nil].each do |spelling|
      status, out, = cuttle(*spelling)
      assert_equal 0, status
      Cuttle::CLI::COMMANDS.each { |command| assert_includes out, "  #{command.name.ljust(10)} #{command.summary}" }
    end
  end

  def test_every_command_can_be_loaded_and_run
    Cuttle::CLI::COMMANDS.each do |command|
      assert_respond_to Cuttle::CLI.command(command.name).new(out: nil, err: nil), :run
    end
  end

  def test_serves_help_names_engines_parsers_and_servers
    status, out, = cuttle("serve", "--help")
    assert_equal 0, status
    Cuttle::Engines.names.each { |name| assert_includes out, "  #{name.ljust(10)} #{Cuttle::Engines.describe(name)}" }
    Cuttle::Http::Parsers.names.each do |name|
      assert_includes out, "  #{name.ljust(10)} #{Cuttle::Http::Parsers.describe(name)}"
    end
    Cuttle::Settings::LIKES.each_key { |name| assert_includes out, name }
    assert_equal out, cuttle("help", "serve")[1]
  end

  def test_lines_of_help_fit_a_terminal
    assert_empty cuttle("serve", "--help")[1].lines.reject { |line| line.chomp.length <= 120 }
  end

  # What was typed => the line that it gets. The exit status is 2 each time, and the next line says where help is.
  # The flag for the evented engines, as messages have it.
  EVENTED = Cuttle::Engines.names.select { |name| Cuttle::Engines.traits(name).evented? }
                           .then { |names| "--engine #{names[0...-1].join(", ")} or #{names.last}" }

  USAGE = {
    %w[paint] => "unknown command paint: #{Cuttle::CLI::COMMANDS.map(&:name).join(", ")}",
    %w[help paint] => "unknown command paint: #{Cuttle::CLI::COMMANDS.map(&:name).join(", ")}",
    %w[serve --paint] => "invalid option: --paint",
    %w[serve --engin=jet] => "unknown engine \"jet\": #{Cuttle::Engines.names.join(", ")}",
    %w[serve --motor=hybrid] => "invalid option: --motor=hybrid",
    %w[--paint] => "unknown command --paint: #{Cuttle::CLI::COMMANDS.map(&:name).join(", ")}",
    %w[serve -p] => "missing argument: -p",
    %w[serve -p http] => "--port http: give a port from 0 to 65535",
    %w[serve -w many] => "--workers many: give a number of processes, or auto",
    %w[serve -b localhost] => "--bind localhost: give tcp://host:port, ssl://host:port or unix:///path",
    %w[serve -t 0] =>
      "engine hybrid has a fixed pool: --threads 0 (a thread per connection) needs --engine threads",
    %w[serve --engine single --app-timeout 3] =>
      "engine single leaves a connection to its thread, even if the app is stuck: leave out --app-timeout, " \
      "or use #{EVENTED}",
    %w[serve --like webrick --app-timeout 3] =>
      "engine threads leaves a connection to its thread, even if the app is stuck: leave out --app-timeout, " \
      "or use #{EVENTED}",
    %w[serve --app-timeout soon] => "--app-timeout soon: give seconds, or none",
    %w[serve --engine threads --max-queue 5] =>
      "engine threads accepts when a thread is free, so its queue is the kernel's backlog: " \
      "leave out --max-queue, or use #{EVENTED}",
    %w[serve --spool-directory /nowhere] =>
      "--spool-directory /nowhere: give a directory that exists and that we may write to",
    %w[serve --engine jet] => "unknown engine \"jet\": #{Cuttle::Engines.names.join(", ")}",
    %w[serve --parser recognizer -e production] =>
      "parser recognizer is for study only: it does not serve in production",
    %w[serve a.ru b.ru] => "one PATH only, not a.ru b.ru",
    %w[serve test --docroot lib] => "test is a directory of files already: leave out --docroot"
  }.freeze

  USAGE.each do |arguments, line|
    define_method("test_usage: #{arguments.join(" ")}") do
      status, out, err = cuttle(*arguments)
      assert_equal [2, "", "cuttle: #{line}"], [status, out, err.lines.first.chomp]
      assert_match(/\AUsage: cuttle .*(--help|cuttle help)\Z/, err.lines.last)
      assert_equal 2, err.lines.length
    end
  end

  # The same with status 1 and nothing else.
  ERRORS = {
    %w[serve nowhere.ru] => "no file nowhere.ru",
    %w[serve --docroot nowhere] => "no directory nowhere",
    %w[serve test -b tcp://192.0.2.1:0] => "can't listen on tcp://192.0.2.1:0: this machine has no address 192.0.2.1",
    %w[serve test -b unix:///nowhere/s] => "can't listen on unix:///nowhere/s: its directory does not exist"
  }.freeze

  ERRORS.each do |arguments, line|
    define_method("test_error: #{arguments.join(" ")}") do
      assert_equal [1, "", "cuttle: #{line}\n"], cuttle(*arguments)
    end
  end

  def test_a_backtrace_with_debug_only
    _, _, err = cuttle("serve", "nowhere.ru", "--debug")
    assert_equal "cuttle: no file nowhere.ru", err.lines.first.chomp
    assert_match(/rack\/loader\.rb:\d+:in/, err)
  end

  private

  # Exit status, standard output and standard error of a command line that ends by itself.
  def cuttle(*arguments)
    out = StringIO.new
    err = StringIO.new
    status = Dir.chdir(Serving::ROOT) { Cuttle::CLI.new(out: out, err: err).run(arguments) }
    [status, out.string, err.string]
  end
end

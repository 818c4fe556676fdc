# frozen_string_literal: true

require "stringio"
require_relative "clone"

# The runs that make up "all tests", and a summary of them: what failed, in full, and one closing line. Two lanes run
# side by side: tests, which run in several processes that mostly wait (test/runner.rb), and what takes a core for
# itself. The first one's output is shown as it comes, the second one's when it ends.
module Suites
  # Minitest's closing line.
  TALLY = /^(\d+) runs, (\d+) assertions, (\d+) failures, (\d+) errors, (\d+) skips/
  COUNTED = %w[runs assertions failures errors skips].freeze

  # What minitest says in the end of tests that failed.
  FAULTS = /^Finished in [^\n]*\n(.*?)^(?=\d+ runs, )/m

  # A test that failed once, and passed alone (test/runner/second_runs.rb).
  SECOND_RUN = /^passed in its second run only: .*/

  # Lines of a fault that the summary repeats: who reads only the end of a log finds what failed.
  LINES = 12

  Result = Struct.new(:name, :passed, :seconds, :faults, :second_runs, :counts)

  class << self
    # True where everything passed.
    def all
      tests = [["tests", {}, "test"], ["real apps", {}, "test:real"],
               ["tests under Rack 2.2", { "BUNDLE_GEMFILE" => rack2 }, "test:rack"],
               ["as on other systems", { "CUTTLE_ENGINE" => "hybrid,threads" }, "platforms:elsewhere"],
               ["other servers", {}, "test:peers"], ["tests under sanitizers", {}, "sanitize:core"]]
      others = [["house style", {}, "lint"], ["parsers under sanitizers", {}, "sanitize:parser"],
                ["fuzz targets", {}, "fuzz:smoke"], ["threads under sanitizers", {}, "sanitize:threads"],
                ["tests with Ruby 4", {}, "test:ruby4"]]
      Clone.outside do
        output = StringIO.new
        lanes = { tests => $stdout, others => output }.map { |suites, out| Thread.new { lane(suites, out) } }
        results = lanes.flat_map(&:value)
        puts output.string
        summarize(results)
      end
    end

    # The tests in +files+.
    def only(files)
      loads = files.map { |file| "load #{File.expand_path(file).inspect}" }
      exec(RbConfig.ruby, "-Itest", "-Ilib", "-rrunner", "-e", loads.join("; "))
    end

    # The beginning of each fault that minitest names in +output+.
    def faults(output)
      output.scan(FAULTS).flat_map { |(text)| text.split(/\n\n(?= +\d+\) )/) }.map(&:strip).reject(&:empty?)
            .map { |fault| fault.lines.first(LINES).join }
    end

    private

    def rack2
      File.join(Clone::ROOT, "gemfiles/rack2.gemfile").tap { |gemfile| Clone.bundle(gemfile) }
    end

    # The results of +suites+ ([name, environment, task] each), one after the other.
    def lane(suites, out)
      suites.map do |name, environment, task|
        began = now
        passed, output = run({ "CUTTLE_SECOND_RUN" => "1", **environment }, task, out)
        counts = output.scan(TALLY).map { |numbers| numbers.map(&:to_i) }.transpose.map(&:sum)
        Result.new(name, passed, now - began, faults(output), output.scan(SECOND_RUN), counts)
      end
    end

    # [passed, output] of a rake task, whose output goes to +out+ as it comes.
    def run(environment, task, out)
      out.puts "== rake #{task}"
      output = +""
      passed = IO.popen(environment, ["bundle", "exec", "rake", task], err: %i[child out]) do |pipe|
        copy(pipe, output, out)
        Process.wait2(pipe.pid).last.success?
      end
      [passed, output.scrub!]
    end

    # A dot for each test comes without the end of a line.
    def copy(pipe, output, out)
      while (part = pipe.readpartial(4096))
        output << part
        out << part
        out.flush
      end
    rescue EOFError
      nil
    end

    def summarize(results)
      puts "", "== summary"
      results.each { |result| result.faults.each { |fault| puts "#{result.name}: #{fault}", "" } }
      results.each { |result| result.second_runs.each { |line| puts "#{result.name}: #{line}" } }
      results.each do |result|
        puts format("%s: %s, %.1f minutes", result.passed ? "passed" : "FAILED", result.name, result.seconds / 60)
      end
      puts closing_line(results.map(&:counts).reject(&:empty?).transpose.map(&:sum))
      results.all?(&:passed)
    end

    # "4,123 runs, 61,000 assertions, …"
    def closing_line(counts)
      counts.zip(COUNTED).map { |count, name| "#{count.to_s.gsub(/\B(?=(\d{3})+\z)/, ",")} #{name}" }.join(", ")
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

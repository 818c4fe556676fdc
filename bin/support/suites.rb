# frozen_string_literal: true

require "stringio"
require_relative "clone"
require_relative "suites/result"

# The runs that make up "all tests", and a summary of them: what failed, in full, and one closing line. Two lanes run
# side by side: tests, which run in several processes that mostly wait (test/runner.rb), and what takes a core for
# itself. The first one's output is shown as it comes, the second one's when it ends. In the end a few tests that failed
# run once more, with nothing beside them.
#
# After CUTTLE_UNTIL, in seconds since 1970, no further suite begins, and no further test of those that run; the summary
# says what was left out. So the most important suites come first.
module Suites
  # +environment+: variables for +task+, rake's.
  Suite = Struct.new(:name, :environment, :task)

  # Of more tests of a suite than these none gets a second run: something is broken.
  MOST = 5

  RACK2 = File.join(Clone::ROOT, "gemfiles/rack2.gemfile")

  # What CI runs in addition: it takes as long as the rest.
  ONLY_IN_CI = %w[sanitize:core sanitize:parser sanitize:threads fuzz:smoke test:ruby4].freeze

  class << self
    # True where everything passed.
    def all
      ci = ENV.key?("CI")
      puts "Not run: #{ONLY_IN_CI.join(", ")}; CI=true bin/test runs them as well." unless ci
      Clone.bundle(RACK2)
      run(lanes(ci: ci))
    end

    # Lists of suites, to run side by side.
    def lanes(ci:)
      everything = [
        [Suite.new("tests", {}, "test"), Suite.new("real apps", {}, "test:real"),
         Suite.new("tests under sanitizers", {}, "sanitize:core"),
         Suite.new("tests under Rack 2.2", { "BUNDLE_GEMFILE" => RACK2 }, "test:rack"),
         Suite.new("as on other systems", { "CUTTLE_ENGINE" => "hybrid,threads" }, "platforms:elsewhere"),
         Suite.new("other servers", {}, "test:peers")],
        [Suite.new("house style", {}, "lint"), Suite.new("parsers under sanitizers", {}, "sanitize:parser"),
         Suite.new("fuzz targets", {}, "fuzz:smoke"), Suite.new("threads under sanitizers", {}, "sanitize:threads"),
         Suite.new("tests with Ruby 4", {}, "test:ruby4")]
      ]
      everything.map { |suites| suites.select { |suite| ci || !ONLY_IN_CI.include?(suite.task) } }
    end

    # Runs +lanes+, lists of suites, side by side. True where everything passed, be it in a second run.
    def run(lanes)
      Clone.outside do
        outputs = [$stdout] + Array.new(lanes.size - 1) { StringIO.new }
        results = lanes.zip(outputs).map { |suites, out| Thread.new { lane(suites, out) } }.flat_map(&:value)
        outputs.drop(1).each { |output| puts output.string }
        results.each { |result| again(result) }
        summarize(results)
      end
    end

    # The tests in +files+.
    def only(files)
      loads = files.map { |file| "load #{File.expand_path(file).inspect}" }
      exec(RbConfig.ruby, "-Itest", "-Ilib", "-rrunner", "-e", loads.join("; "))
    end

    private

    # The results of +suites+, one after the other.
    def lane(suites, out)
      suites.map do |suite|
        time_up? ? Result.left_out(suite) : Result.new(suite, *rake(suite.task, suite.environment, out))
      end
    end

    def time_up? = ENV.key?("CUTTLE_UNTIL") && Time.now.to_i >= Integer(ENV.fetch("CUTTLE_UNTIL"))

    # A machine that is busy with other things must not stop a change that is right; nor may anybody overlook a race, so
    # the summary names what passes only now.
    def again(result)
      return unless result.failed.size.between?(1, MOST) && result.complete?

      one_at_a_time = { "CUTTLE_ONLY" => result.failed.keys.join("\n"), "CUTTLE_PROCESSES" => "1",
                        "CUTTLE_UNTIL" => nil }
      environment = result.suite.environment.merge(one_at_a_time)
      result.second = Result.new(result.suite, *rake(result.suite.task, environment, $stdout))
    end

    # [whether a rake task passed, its output, seconds]. The output goes to +out+ as it comes.
    def rake(task, environment, out)
      began = now
      out.puts "== rake #{task}"
      output = +""
      passed = IO.popen(environment, ["bundle", "exec", "rake", task], err: %i[child out]) do |pipe|
        copy(pipe, output, out)
        Process.wait2(pipe.pid).last.success?
      end
      [passed, output.scrub!, now - began]
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

    # The last lines name the tests that failed.
    def summarize(results)
      puts "", "== summary"
      results.each { |result| result.faults.each { |fault| puts "#{result.suite.name}: #{fault}", "" } }
      results.each { |result| puts result.verdict }
      results.each { |result| result.failed.each { |test, why| puts "#{result.outcome}: #{test}: #{why}" } }
      puts closing_line(results.map(&:counts).transpose.map(&:sum))
      results.all?(&:passed?)
    end

    # "4,123 runs, 61,000 assertions, …"
    def closing_line(counts)
      counts.zip(Result::COUNTED).map { |count, name| "#{count.to_s.gsub(/\B(?=(\d{3})+\z)/, ",")} #{name}" }.join(", ")
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

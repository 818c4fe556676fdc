# frozen_string_literal: true

require "stringio"
require_relative "clone"

# The runs that make up "all tests", and a summary that has each one's closing line, and again what failed: servers under
# test write much between. Two lanes run side by side, for tests mostly wait; the first one's output is shown as it comes,
# the second one's when it ends.
module Suites
  # Closing lines of minitest.
  TALLY = /^\d+ runs, \d+ assertions, .*$/

  # What minitest says of a test that failed.
  FAULT = /^ +\d+\) (?:Failure|Error):\n(?:.+\n)+/
  FAULT_LINES = 10

  class << self
    # True where everything passed.
    def all
      prepare
      shown = [["tests", {}, "test"], ["tests under Rack 2.2", { "BUNDLE_GEMFILE" => rack2 }, "test:rack"]]
      hidden = [["tests under sanitizers", {}, "sanitize"], ["fuzz targets", {}, "fuzz:smoke"]]
      Clone.outside do
        output = StringIO.new
        lanes = { shown => $stdout, hidden => output }.map { |suites, out| Thread.new { lane(suites, out) } }
        results = lanes.map(&:value).reduce(:merge)
        puts output.string
        summarize(results)
      end
    end

    # The tests in +files+.
    def only(files)
      loads = files.map { |file| "load #{File.expand_path(file).inspect}" }
      system(RbConfig.ruby, "-Itest", "-Ilib", "-e", loads.join("; "))
    end

    private

    def prepare
      Packages.install(Packages::TEST).each do |package|
        Clone.say "missing: #{package.package} (#{package.purpose}); tests that need it are skipped"
      end
      system(RbConfig.ruby, "examples/setup") || Clone.say("missing: gems of the examples; their tests are skipped")
    end

    def rack2
      File.join(Clone::ROOT, "gemfiles/rack2.gemfile").tap { |gemfile| Clone.bundle(gemfile) }
    end

    # The results of +suites+ ([name, environment, task] each), one after the other.
    def lane(suites, out)
      suites.to_h { |name, environment, task| [name, run(environment, task, out)] }
    end

    # [passed, closing line, faults] of a rake task whose output goes to +out+ as it comes.
    def run(environment, task, out)
      out.puts "== rake #{task}"
      output = +""
      command = ["bundle", "exec", "rake", task]
      passed = IO.popen(environment, command, err: %i[child out]) do |pipe|
        copy(pipe, output, out)
        Process.wait2(pipe.pid).last.success?
      end
      output.scrub!
      [passed, output.scan(TALLY).last, output.scan(FAULT)]
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
      results.each do |name, (passed, tally, faults)|
        puts "#{passed ? "passed" : "FAILED"}: #{name}", *faults.map { |fault| fault.lines.first(FAULT_LINES).join }, *tally
      end
      results.values.all?(&:first)
    end
  end
end

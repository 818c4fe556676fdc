# frozen_string_literal: true

require_relative "clone"

# The runs that make up "all tests", one after the other, and a summary that has each one's closing line, and again what
# failed: servers under test write much between.
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
      results = {
        "tests" => run({}, "rake", "test"),
        "tests under Rack 2.2" => run({ "BUNDLE_GEMFILE" => rack2 }, "rake", "test:rack"),
        "tests under sanitizers" => run({}, "rake", "sanitize"),
        "fuzz targets" => run({}, "rake", "fuzz:smoke")
      }
      summarize(results)
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

    # [passed, closing line, faults] of a command whose output is shown as it comes.
    def run(environment, *command)
      puts "== #{command.join(" ")}"
      output = +""
      Clone.outside do
        IO.popen(environment, ["bundle", "exec", *command], err: %i[child out]) { |pipe| copy(pipe, output) }
      end
      output.scrub!
      [$?.success?, output.scan(TALLY).last, output.scan(FAULT)]
    end

    # A dot for each test comes without the end of a line.
    def copy(pipe, output)
      while (part = pipe.readpartial(4096))
        output << part
        $stdout << part
        $stdout.flush
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

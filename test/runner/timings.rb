# frozen_string_literal: true

require "fileutils"
require "json"

module Runner
  # The duration of each test's last run, in seconds. It is kept in tmp/, so a fresh clone has only the times in this
  # file.
  class Timings
    PATH = File.expand_path("../../tmp/test-seconds.json", __dir__)

    # The assumed duration of a test without a time: the first entry that matches its suite's name. In a fresh clone, it
    # makes the suites that take longest begin first.
    ROUGHLY = [
      [/\ATestTuneMeasured\z/, 25], [/\ATest(BackendRecipe|BenchmarkTrials|Profiler)\z/, 8],
      [/\ATest(Bundle|EngineRecipe|Idleness|Lab|LabReportInChromium|Lending|LoadSelfTest|Loading|Refork)\z/, 4],
      [/\ATest(ParserDifferences|RubyParsers|SlowClients|Spool\(hybrid\)|SpoolDirectory|StudyCommand|Validation)\z/, 4],
      [/\ATest(Accidents|Advise|Clone|CoreForks|Growth|LabRunner|Law|ManyMachines|Operation|Oracle|Restarts)\z/, 2],
      [/\ATest(ShortWrites|SlowHijacks|Spool\(fibers\)|StudiesPageInChromium|TlsPrograms|Warnings|Wear)\z/, 2],
      [/\ATestEngine\(/, 0.6], [//, 0.1]
    ].freeze

    def self.load
      new(File.exist?(PATH) ? JSON.parse(File.read(PATH)) : {})
    rescue JSON::ParserError
      new({})
    end

    def initialize(seconds)
      @seconds = seconds
    end

    def of(suite, name)
      @seconds.fetch("#{suite}##{name}") { ROUGHLY.find { |pattern, _| pattern.match?(suite.to_s) }.last }
    end

    def note(suite, name, seconds)
      @seconds["#{suite}##{name}"] = [seconds.round(2), 0.01].max # a suite without cost would never be chosen
    end

    # Renames the new file, because another run may write it at the same time.
    def save
      FileUtils.mkdir_p(File.dirname(PATH))
      File.write("#{PATH}.#{Process.pid}", JSON.generate(@seconds))
      File.rename("#{PATH}.#{Process.pid}", PATH)
    end
  end
end

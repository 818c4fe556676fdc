# frozen_string_literal: true

require "fileutils"
require "json"

module Runner
  # How long each test took when it last ran, in seconds. Kept in tmp/, so a fresh clone knows only what is written
  # here.
  class Timings
    PATH = File.expand_path("../../tmp/test-seconds.json", __dir__)

    # What a test without a time is taken to take; the first that matches its suite's name.
    ROUGHLY = [[/\ATestEngine\(/, 1.0], [//, 0.1]].freeze

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

    # By a rename: another run may do the same.
    def save
      FileUtils.mkdir_p(File.dirname(PATH))
      File.write("#{PATH}.#{Process.pid}", JSON.generate(@seconds))
      File.rename("#{PATH}.#{Process.pid}", PATH)
    end
  end
end

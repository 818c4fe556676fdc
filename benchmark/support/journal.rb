# frozen_string_literal: true

module Bench
  # A benchmark's record as lines of JSON, written as it goes, so that a run that was broken off is not lost. Kinds:
  #   benchmark  name, title, columns, rounds, seconds, seed, machine     (the first line)
  #   subject    name, versus, version, command
  #   skip       name, reason
  #   run        name, round, figures, busy (others wanting a core just before)
  #   figure     text, sense, bound, value (null: not measured)
  class Journal
    attr_reader :path, :records

    # A new file in tmp/benchmark/results, named after the benchmark and the time.
    def self.create(name)
      FileUtils.mkdir_p(RESULTS)
      new(File.join(RESULTS, "#{name}-#{Time.now.strftime("%Y%m%dT%H%M%S")}-#{Process.pid}.jsonl"))
    end

    # Reads what a file holds.
    def self.read(path)
      new(path, File.readlines(path).map { |line| JSON.parse(line, symbolize_names: true) })
    end

    # The newest file of each benchmark.
    def self.newest
      Dir[File.join(RESULTS, "*.jsonl")].group_by { |path| File.basename(path)[/\A[a-z]+/] }
                                        .map { |_name, paths| paths.max_by { |path| File.mtime(path) } }
    end

    def initialize(path, records = [])
      @path = path
      @records = records
    end

    def add(kind, **fields)
      record = { kind: kind, **fields }
      records << record
      File.open(path, "a") { |file| file.puts(JSON.generate(record)) }
    end

    def of(kind)
      records.select { |record| record[:kind] == kind }
    end

    def benchmark
      of("benchmark").first
    end
  end
end

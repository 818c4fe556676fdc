# frozen_string_literal: true

require "fileutils"
require "json"
require "tmpdir"
require_relative "reported_lab"

# Results of labs that never ran, to be reported.
module ReportCase
  def teardown
    (@directories || []).each { |directory| FileUtils.rm_rf(directory) }
    super
  end

  # The directory of a lab with these lines, or with ReportedLab's options.
  def directory(lines: nil, **options)
    empty_directory.tap do |directory|
      File.write("#{directory}/results.jsonl", lines ? written(lines) : ReportCase.lab(options))
    end
  end

  def written(lines)
    lines.map { |line| "#{JSON.generate(line)}\n" }.join
  end

  # The results file of a ReportedLab, made once.
  def self.lab(options)
    @labs ||= {}
    @labs[options] ||= ReportedLab.new(**options).lines.map { |line| "#{JSON.generate(line)}\n" }.join
  end

  # Until the end of the test.
  def empty_directory
    Dir.mktmpdir("cuttle-report").tap { |directory| (@directories ||= []) << directory }
  end

  # [Results, Analysis], made once of what is the same.
  def read(directory)
    ReportCase.readings[File.read("#{directory}/results.jsonl")] ||= begin
      results = Cuttle::Lab::Results.read(directory)
      [results, Cuttle::Lab::Analysis.new(results)]
    end
  end

  def self.readings
    @readings ||= {}
  end

  # The page of a ReportedLab, made once.
  def html(**options)
    ReportCase.pages[options] ||= Cuttle::Lab::Report.html(*read(directory(**options)))
  end

  def self.pages
    @pages ||= {}
  end
end

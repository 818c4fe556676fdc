# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "synthetic_lab"

# Results of labs that never ran, to be reported.
module ReportCase
  def teardown
    (@directories || []).each { |directory| FileUtils.rm_rf(directory) }
    super
  end

  # The directory of a lab with these lines, or with SyntheticLab's options.
  def directory(lines: nil, **options)
    directory = empty_directory
    return SyntheticLab.new(**options).write(directory) unless lines

    File.write("#{directory}/results.jsonl", lines.map { |line| "#{JSON.generate(line)}\n" }.join)
    directory
  end

  # Until the end of the test.
  def empty_directory
    Dir.mktmpdir("cuttle-report").tap { |directory| (@directories ||= []) << directory }
  end

  # [Results, Analysis]
  def read(directory)
    results = Cuttle::Lab::Results.read(directory)
    [results, Cuttle::Lab::Analysis.new(results)]
  end

  def html(...)
    Cuttle::Lab::Report.html(*read(directory(...)))
  end
end

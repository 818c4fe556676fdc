# frozen_string_literal: true

require "test_helper"

# docs/deployment.md and README: each hook and each signal has its row.
class TestOperationDocuments < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)

  def test_hooks
    cells = section("docs/deployment.md", "Hooks").scan(/^\| (`.*?) \|/).flatten
    rows = cells.map { |cell| cell.scan(/`(\w+)`/).flatten }
    hooks = Cuttle::Hooks::NAMES.map { |name, others| [name, *others].map(&:to_s) }
    assert_equal hooks.sort, rows.sort
  end

  def test_signals
    known = (Cuttle::Cluster::SIGNALS + %w[INFO PWR] - %w[CHLD]).uniq.sort
    %w[docs/deployment.md README.md].each do |document|
      rows = section(document, "Signals").scan(/^\| ([A-Z].*?) \|/).flatten
      assert_equal known, rows.flat_map { |cell| cell.scan(/\b[A-Z]{3,}\d?\b/) & known }.uniq.sort, document
    end
  end

  private

  def section(document, title)
    File.read("#{ROOT}/#{document}")[/^## #{title}\n.*?(?=^## )/m]
  end
end

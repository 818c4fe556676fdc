# frozen_string_literal: true

require "test_helper"
require_relative "support/archived_conditions"

# The model's forecasts against what studies measured. The bounds are a guard: a change of the model that makes
# forecasts worse fails here. benchmark/tuner/model prints the table.
class TestValidation < Minitest::Test
  # kind of condition => figure => [median error, error of 9 in 10, largest error], as shares.
  BOUNDS = {
    known: { rate: [0.02, 0.06, 0.12], p50: [0.02, 0.08, 0.15], p90: [0.1, 0.26, 0.35], p95: [0.1, 0.26, 0.3],
             p99: [0.15, 0.4, 0.7] },
    wall: { rate: [0.06, 0.18, 0.35] },
    many: { rate: [0.12, 0.36, 0.36] },
    step: { rate: [0.01, 0.01, 0.01], p90: [0.06, 0.06, 0.06], p99: [0.03, 0.03, 0.03] }
  }.freeze

  # So many conditions at least: a filter that lost most of them would pass any bound.
  LEAST = { known: 140, wall: 240, many: 6, step: 1 }.freeze

  # In one process: all tests share the rows, which take nearly all of the time.
  def self.test_order = :alpha

  def self.rows
    @rows ||= ArchivedConditions.rows.group_by { |row| row.condition.kind }
  end

  BOUNDS.each do |kind, figures|
    define_method("test_#{kind}_conditions") do
      rows = self.class.rows.fetch(kind)
      assert_operator rows.length, :>=, LEAST.fetch(kind)
      figures.each { |figure, bounds| assert_within(bounds, rows, figure) }
    end
  end

  # Without queues, all that can be wrong is what the engines cost.
  def test_requests_alone
    rows = self.class.rows.fetch(:known).select do |row|
      row.condition.demand.connections == 1 && row.condition.requests >= 50
    end
    assert_operator rows.length, :>=, 4
    assert_operator ArchivedConditions.errors(rows, :rate).last, :<, 0.04
  end

  # Where an app only waits, threads were still being started in some runs of q22: the largest error.
  def test_threads_auto
    rows = ArchivedConditions.autos("q22-auto")
    assert_equal [3, 5, 5, 64], rows.map { |row| row.condition.setting.threads }
    assert_within([0.05, 0.12, 0.12], rows, :rate)
  end

  private

  def assert_within(bounds, rows, figure)
    errors = ArchivedConditions.errors(rows, figure)
    found = [errors[errors.length / 2], errors[errors.length * 9 / 10], errors.last]
    bounds.zip(found, %w[median 9/10 largest]) do |bound, error, name|
      worst = rows.max_by { |row| row.error(figure)&.abs || 0 }
      assert_operator error, :<=, bound, "#{name} error of #{figure}; the largest is at #{worst.condition.name}"
    end
  end
end

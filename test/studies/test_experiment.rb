# frozen_string_literal: true

require "test_helper"

# What a study's lab is to measure.
class TestStudyExperiment < Minitest::Test
  Absent = Struct.new(:unavailable) do
    def find(_name)
      self
    end
  end

  def test_each_cell_is_measured_by_its_tester
    assert_equal [nil, "ab", "siege", "wrk"], testers_of(Absent.new(nil))
  end

  def test_what_a_tester_that_is_not_here_would_do_is_left_out
    assert_equal [nil], testers_of(Absent.new("it is not installed: apt-get install it"))
  end

  private

  def testers_of(testers)
    study = Cuttle::Studies.all.find { |each| each.name == "q17-testers" }
    plan = Cuttle::Studies::Experiment.new(study, scale: Cuttle::Studies::Scale.new(1), directory: "none", seed: 1,
                                                  command: [], testers: testers).plan
    plan.loads.map(&:tester).uniq.sort_by(&:to_s)
  end
end

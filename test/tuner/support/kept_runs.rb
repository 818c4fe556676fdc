# frozen_string_literal: true

require "minitest/mock"

# Tunes that ask for the same simulations share them, within a process: a simulation follows from its arguments alone
# (test_model.rb proves that), and a tune takes nearly all of its processor time for them.
module KeptRuns
  MODEL = Cuttle::Tuner::Model.method(:new)

  def self.model(profile, **options)
    @runs ||= {}
    MODEL.call(profile, **options, runs: @runs)
  end

  def run
    Cuttle::Tuner::Model.stub(:new, KeptRuns.method(:model)) { super }
  end
end

# frozen_string_literal: true

require "minitest/mock"

# Tunes that ask for the same simulations share them, within a process: a simulation follows from its arguments alone
# (test_model.rb proves that), and a tune takes nearly all of its processor time for them. So they are also short: these
# tests ask how an answer comes about. How good it is, test_model.rb and test_validation.rb ask.
module KeptRuns
  MODEL = Cuttle::Tuner::Model.method(:new)

  # Counted responses of a simulation: four lie beyond p99.
  RESPONSES = 400

  class << self
    def model(profile, **options)
      @runs ||= {}
      MODEL.call(profile, **options, runs: @runs)
    end

    # Runs the block with other constants of the Model: the number of events of a simulation (EVENTS), and its least
    # number of responses (LEAST).
    def in_short(**constants)
      before = constants.to_h { |name, value| [name, replace(name, value)] }
      yield
    ensure
      before.each { |name, value| replace(name, value) }
    end

    private

    # Returns what it was.
    def replace(name, value)
      model = Cuttle::Tuner::Model
      model.send(:remove_const, name).tap { model.const_set(name, value) }
    end
  end

  def run
    KeptRuns.in_short(EVENTS: 1, LEAST: RESPONSES) do
      Cuttle::Tuner::Model.stub(:new, KeptRuns.method(:model)) { super }
    end
  end
end

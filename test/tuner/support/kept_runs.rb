# frozen_string_literal: true

require "minitest/mock"

# Tunes that ask for the same simulations share them, within a process: a simulation follows from its arguments alone
# (test_model.rb proves that), and a tune takes nearly all of its processor time for them. So they are also as short as
# they may be (Model::LEAST): these tests ask how an answer comes about. How good it is, test_model.rb and
# test_validation.rb ask.
module KeptRuns
  MODEL = Cuttle::Tuner::Model.method(:new)

  class << self
    def model(profile, **options)
      @runs ||= {}
      MODEL.call(profile, **options, runs: @runs)
    end

    # Runs the block with simulations of that many events, if Model::LEAST needs no more.
    def in_short(events = 1)
      before = replace(events)
      yield
    ensure
      replace(before)
    end

    private

    # Returns what it was.
    def replace(events)
      model = Cuttle::Tuner::Model
      model.send(:remove_const, :EVENTS).tap { model.const_set(:EVENTS, events) }
    end
  end

  def run
    KeptRuns.in_short { Cuttle::Tuner::Model.stub(:new, KeptRuns.method(:model)) { super } }
  end
end

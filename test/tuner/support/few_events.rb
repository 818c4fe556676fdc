# frozen_string_literal: true

# Ruby loads this file (-r) into a program whose answer is not what is tested: its simulations are as short as they may
# be (see KeptRuns). It loads nothing of Cuttle, so the program still has to load what it uses.
TracePoint.new(:end) do |trace|
  next unless trace.path.end_with?("/cuttle/tuner/model.rb")

  trace.disable
  trace.self.send(:remove_const, :EVENTS)
  trace.self.const_set(:EVENTS, 1)
end.enable

# frozen_string_literal: true

# Ruby loads this file (-r) into a program whose answer is not what is tested: its simulations are short (see KeptRuns).
# It loads nothing of Cuttle, so the program still has to load what it uses.
TracePoint.new(:end) do |trace|
  next unless trace.path.end_with?("/cuttle/tuner/model.rb")

  trace.disable
  { EVENTS: 1, LEAST: 400 }.each do |name, value|
    trace.self.send(:remove_const, name)
    trace.self.const_set(name, value)
  end
end.enable

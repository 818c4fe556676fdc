# frozen_string_literal: true

# An error stream (rack.errors) that notes each report, without backtraces and without addresses of objects, which
# differ between processes and runs.
class Reports
  PLACE = /\A\S+?:\d+:in [`'][^']*'(?:: )?/

  def initialize(notes)
    @notes = notes
  end

  def write(text)
    @notes << [:error, text[/\A.*$/].sub(PLACE, "").gsub(/0x\h+/, "0x")]
  end

  def flush = nil
end

# frozen_string_literal: true

# An error stream (rack.errors) that notes what each report says, without where it was raised and without
# addresses of objects: those are each process's and run's own.
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

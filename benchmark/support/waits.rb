# frozen_string_literal: true

module Bench
  # A trial: the CPU time that a server uses for each wait of the app (benchmark/apps/waits.ru). The same server gets
  # requests that wait for nothing, and requests of COUNT calls that wait.
  class Waits < Lab::Runner::Trial
    COUNT = 8 # calls of a request

    # The lab's record of the requests that wait, with the figure wait_cpu: the microseconds of CPU time that such a
    # request takes in addition, by COUNT.
    def run(configuration, route, **)
      prepare(configuration, route)
      none, waits = [route.url, @url].map { |url| phase(url) or return }
      cost = waits.last.server["cpu_us"] - none.last.server["cpu_us"]
      record(*waits, nil).merge("figures" => { wait_cpu: cost / COUNT })
    end

    private

    # [result, Figures of the meter] of a load; nil if it was interrupted.
    def phase(url)
      @url = url
      warm_up
      result, meter = measure
      return if result.interrupted?

      reasons = wrong(result)
      raise Lab::Failure, "#{url}: #{reasons.join(", ")}" if reasons.any?

      [result, meter]
    end
  end

  # What answers the app of Waits on a socket and as a resolver: a service of the lab (waits_program.rb).
  class Answers < Lab::Apps::Services::Daemon
    PROGRAM = "#{__dir__}/waits_program.rb"

    def self.unavailable = nil

    # Raises Lab::Failure.
    def self.start(cores: nil)
      new(Lab::Apps::Services::Child.start(PROGRAM, cores: cores))
    end

    # Variables for the app.
    def environment
      { "WAITS_SOCKET" => @child.words[0], "WAITS_DNS" => @child.words[1], "WAITS_COUNT" => Waits::COUNT.to_s }
    end
  end

  Lab::Apps::Services.add("answers", Answers)
end

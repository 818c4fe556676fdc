# frozen_string_literal: true

# Requests of some microseconds that release the GVL (docs/performance.md, "Threads that stand by"). The environment
# says what each does:
#
#   PARTS  numbers to join: 150 take about 15 us with YJIT (0)
#   LOOKS  files to look for: each releases the GVL for some microseconds (0)
#   WAIT   seconds to sleep (0)
#   ASK    the most threads, each of which asks a process of its own, which computes for 20 us (0: none asks)

require "socket"

parts, looks, askers = %w[PARTS LOOKS ASK].map { |name| Integer(ENV.fetch(name, "0")) }
wait = Float(ENV.fetch("WAIT", "0"))

# A process that answers, as Redis would on the same machine.
neighbour = lambda do |socket|
  while (question = socket.recv(100)) && !question.empty?
    until_then = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.00002
    nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > until_then
    socket.write(question)
  end
end

free = Queue.new
askers.times do
  ours, theirs = UNIXSocket.pair
  free << ours
  fork do
    free.size.times { free.pop.close } # an end that stays open here would keep the other processes
    neighbour.call(theirs)
    exit!
  end
  theirs.close
end

run lambda { |_env|
  looks.times { File.exist?("/nowhere") }
  sleep(wait) if wait.positive?
  if askers.positive?
    socket = Thread.current[:neighbour] ||= free.pop
    socket.write("question")
    socket.readpartial(100)
  end
  [200, { "content-type" => "text/plain" }, [Array.new(parts, &:to_s).join(",")[0, 10]]]
}

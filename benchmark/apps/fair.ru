# frozen_string_literal: true

# An app that computes for 5 ms of its thread's own CPU time, so that waiting for the lock does not count, then sleeps 20 ms.
work = 0.005
pause = 0.020

run lambda { |_env|
  finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + work
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
  sleep(pause)
  [200, { "content-type" => "text/plain", "content-length" => "13" }, ["Hello, world!"]]
}

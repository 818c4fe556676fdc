# frozen_string_literal: true

module EngineContract
  # A process that has no descriptors left (EMFILE): clients wait, and it neither ends nor spins.
  module Descriptors
    LIMIT = 64

    # Asked the listeners 56,000 times a second, and wrote nothing of it.
    def test_without_descriptors_it_waits_and_serves_again
      skip "each worker has its own limit" if clustered?

      complaint = /\A.*(descriptor|open files).*\n\z/
      with_server(env: { "CUTTLE_NOFILE" => LIMIT.to_s }, said: complaint) do |server|
        gate = "#{object_id}-hoard"
        assert_equal "full", fetch("/hoard?#{gate}")
        waiting = Array.new(5) { connect.write(get("/echo?late", "Connection: close")) }
        eventually("no descriptor free") { Dir.children("/proc/#{server.pid}/fd").size >= LIMIT }
        eventually("a complaint") { server.err.match?(complaint) }
        assert_operator CpuTime.busy(server.pid), :<, 0.25
        open_gate(gate)
        waiting.each { |client| assert_equal "late", client.response.body }
        5.times { assert_serves }
      end
    end
  end
end

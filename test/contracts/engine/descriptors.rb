# frozen_string_literal: true

module EngineContract
  # A process that has no descriptors left (EMFILE): clients wait, and it neither ends nor spins.
  module Descriptors
    LIMIT = 64

    # The server polled the listeners 56,000 times a second, without a message.
    def test_without_descriptors_it_waits_and_serves_again
      skip "each worker has its own limit" if clustered?

      with_server(**limited, said: complaints) do |server|
        gate = "#{object_id}-hoard"
        hoard_all(server, gate)
        waiting = Array.new(5) { connect.write(get("/echo?late", "Connection: close")) }
        eventually("a complaint") { server.err.include?("\n") }
        assert_operator CpuTime.busy(server.pid), :<, 0.25
        open_gate(gate)
        waiting.each { |client| assert_equal "late", client.response.body }
        5.times { assert_serves }
      end
    end

    private

    # A process that has no descriptor left can load no file, so it matters what it has loaded.
    def limited = { env: { "CUTTLE_NOFILE" => LIMIT.to_s }, forked: false }

    def complaints = /\A(.*(descriptor|open files).*\n){1,#{shares}}\z/

    # Returns when no descriptor is free, not even one of a connection that ends, which would be enough for all waiting
    # clients.
    def hoard_all(server, gate)
      before = sockets(descriptors(server))
      assert_equal "full", fetch("/hoard?#{gate}")
      eventually("no free descriptor") do
        found = descriptors(server)
        found.size == LIMIT && sockets(found) == before
      end
    end

    # Each ractor has a descriptor of the listener.
    def sockets(found) = found.grep(/socket/).uniq

    # The targets of the descriptors that count. Inherited ones may be above the limit.
    def descriptors(server)
      Array.new(LIMIT) { |number| "/proc/#{server.pid}/fd/#{number}" }.filter_map do |path|
        File.readlink(path)
      rescue Errno::ENOENT
        nil
      end
    end
  end
end

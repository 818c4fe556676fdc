# frozen_string_literal: true

require "objspace"
require "test_helper"

# Action Cable keeps the env of each WebSocket. Each minor garbage collection visits objects without a write barrier,
# and those that refer to such objects.
class TestKeptEnv < HttpCase
  def test_an_env_of_an_upgrade_has_write_barriers
    skip "only MRI has a generational collector with write barriers" unless RUBY_ENGINE == "ruby"
    without = Queue.new
    app do |env|
      without << (barrier?(env) ? [] : ["env"]) + env.filter_map { |name, value| name unless barrier?(value) }
      [200, {}, []]
    end
    bytes = request("GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    open_client { |client| 5.times { assert_equal 200, client.ask(bytes).status } } # so often that its fields are usual
    assert_equal [[]], Array.new(5) { without.pop }.uniq
  end

  private

  def barrier?(object)
    ObjectSpace.dump(object).then { |text| !text.start_with?("{") || text.include?('"wb_protected":true') }
  end
end

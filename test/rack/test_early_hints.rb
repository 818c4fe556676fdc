# frozen_string_literal: true

require "test_helper"

# Rails sends early hints wherever the env has rack.early_hints. Proxies that don't know 103 take it for the response.
class TestEarlyHints < Minitest::Test
  include Serving

  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  Cuttle::Cores.names.each do |core|
    define_method("test_only_if_asked_for_with_core_#{core}") do
      { {} => %w[false false], { early_hints: true } => %w[true true] }.each do |options, expected|
        serving(->(env) { [200, {}, [env.key?("rack.early_hints").to_s]] }, core: core, **options) do |server|
          WireClient.open(server.port) do |client|
            assert_equal expected, Array.new(2) { client.ask(ASK).body }
          end
        end
      end
    end
  end
end

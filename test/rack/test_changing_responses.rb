# frozen_string_literal: true

require "test_helper"

# An app's objects run Ruby code while their response is rendered, and that code may change the response. Each server
# here is a process of its own, for such a response has smashed its stack.
class TestChangingResponses < Minitest::Test
  include Serving

  APP = File.expand_path("support/changing.ru", __dir__)
  WHO = %w[value values each_value key length each_header part].freeze
  WHAT = %w[
    grow empty shorten lengthen_parts empty_parts no_strings clear_headers add_headers change_values collect
  ].freeze

  # A value whose to_s made the body longer smashed the stack; one that emptied it had a Content-Length without octets.
  Serving::ENGINES.each do |engine|
    define_method("test_no_change_breaks_a_response_under_#{engine}") do
      serving_process(APP, "--engine", engine, forked: true) do |process|
        WHO.product(WHAT, [0, 1, 30, 3_000]) do |who, what, parts|
          assert_whole process, "/#{who}/#{what}?#{parts}"
        end
        assert process.stop.success?
      end
    end
  end

  private

  # The response matches its head, or is a 500. A body that became shorter than its Content-Length is cut short by a
  # close, by which the client notices it.
  def assert_whole(process, target)
    WireClient.open(process.port) do |client|
      response = client.ask("GET #{target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      assert_includes [200, 500], response.status, target
      assert_includes [:closed], client.ending, target
    end
  rescue WireClient::Truncated, WireClient::Silence, ResponseReader::Malformed, SystemCallError => error
    return if error.is_a?(WireClient::Truncated) && process.running? && target.match?(%r{\A/length/(empty|shorten)})

    flunk "#{target}: #{error.message} #{process.err.lines.grep(/BUG|smash|abort/i).first}"
  end
end

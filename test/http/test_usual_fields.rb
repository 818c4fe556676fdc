# frozen_string_literal: true

require "test_helper"

# Requests one after the other whose fields have the same names, or others: the native core serves those with the names
# that most requests have from an env made for them (usual.h). Each app sees the fields of its own request, and all of
# them.
module UsualFields
  LISTS = [
    [], %w[Accept], %w[Accept User-Agent], %w[User-Agent Accept], %w[accept user-agent], %w[Accept X-Foo X-Bar],
    %w[Accept Accept], %w[Cookie Accept Cookie], %w[Content-Type Accept], %w[Content-Type Content-Type],
    %w[X_Foo Accept], %w[X_Foo X-Foo], %w[Content_Type Accept], %w[Version Accept], %w[Accept Connection],
    Array.new(31) { |number| "X-#{number}" }, Array.new(32) { |number| "X-#{number}" },
    ["X-#{"a" * 300}", "Accept"], ["X-#{"a" * 200}", "X-#{"b" * 200}", "Accept"], ["A" * 508], ["A" * 509]
  ].freeze
  LONGEST = 40 # requests in a row with the same names
  RUNS = 60

  def test_each_request_has_its_own_fields
    seen = nil
    app do |env|
      seen = fields(env)
      env.each_value { |value| value << "changed" if value.is_a?(String) && !value.frozen? }
      [200, {}, []]
    end
    random = Random.new(Minitest.seed)
    clients = Array.new(3) { WireClient.new(port) }
    sequence(random).each do |host, list|
      sent = list.map { |name| [name, name == "Connection" ? "keep-alive" : value(random)] }
      assert_equal 200, clients.sample(random: random).ask(bytes(host, sent)).status
      assert_equal expected(host, sent), seen
    end
  ensure
    clients&.each(&:close)
  end

  private

  def value(random) = "#{random.rand(3)}#{"x" * random.rand(50)}"

  # Hosts and lists, many times the same in a row.
  def sequence(random)
    Array.new(RUNS) do
      pair = [%w[a.test a.test a.test:81 b.test].sample(random: random), LISTS.sample(random: random)]
      Array.new(1 + random.rand(random.rand(2).zero? ? 3 : LONGEST)) { pair }
    end.flatten(1)
  end

  def bytes(host, sent) = "GET / HTTP/1.1\r\nHost: #{host}\r\n#{sent.map { |pair| "#{pair.join(": ")}\r\n" }.join}\r\n"

  def fields(env)
    env.select { |key, _| key.start_with?("HTTP_", "CONTENT_", "SERVER_N", "SERVER_PORT") }.transform_values(&:dup)
  end

  def expected(host, sent)
    name, port = host.split(":")
    start = { "HTTP_HOST" => host, "SERVER_NAME" => name, "SERVER_PORT" => port || "80" }
    dashed, underscored = sent.partition { |field, _| !field.include?("_") }
    entries(underscores? ? underscored : []).reject { |key, _| key.start_with?("CONTENT_") }
                                            .merge(entries(dashed)).merge(start)
  end

  def entries(sent)
    sent.each_with_object({}) do |(field, value), found|
      key = field.upcase.tr("-", "_")
      next if key == "VERSION"
      next found[key] = value if key == "CONTENT_TYPE"

      before = found["HTTP_#{key}"]
      found["HTTP_#{key}"] = before ? "#{before}#{key == "COOKIE" ? "; " : ", "}#{value}" : value
    end
  end
end

class TestUsualFields < HttpCase
  include UsualFields

  def underscores? = false
end

class TestUsualFieldsWithUnderscores < HttpCase
  include UsualFields

  def self.server_options = { underscore_headers: true }

  def underscores? = true
end

# frozen_string_literal: true

require "test_helper"

# Responses one after the other whose fields are the same objects, or others: the native core keeps the lines of frozen
# ones (rb_fields.h). Each response has the fields that its app returned for it.
class TestRepeatedFields < HttpCase
  NAMES = ["x-a", "X-A", "x-b", "set-cookie", "content-type", "x-#{"c" * 90}"].map(&:freeze).freeze
  VALUES = ["", "a", "b", "text/plain", "a\nb", "d" * 40, "e" * 200, *Array.new(50, &:to_s)].map(&:freeze).freeze
  RUNS = 600

  def test_each_response_has_its_own_fields
    random = Random.new(Minitest.seed)
    fields = nil
    app { [200, fields, ["x"]] }
    changing = Array.new(3) { +"" }
    open_client do |client|
      RUNS.times do |run|
        changing.each { |text| text.replace("x-#{random.rand(3)}") }
        fields = Array.new(random.rand(8)) { field(random, changing) }
        sent = expected(fields)
        assert_equal sent, own(client.ask(request)), "seed #{Minitest.seed}"
        GC.start if (run % 20).zero?
      end
    end
  end

  # What they say about the message counts in each response.
  def test_fields_that_say_something_about_the_message
    headers = { "date" => "Mon, 01 Jan 2024 00:00:00 GMT", "content-length" => "1", "status" => "404 Nope",
                "keep-alive" => "timeout=5" }.freeze
    app { [200, headers, ["x"]] }
    open_client do |client|
      3.times do
        response = client.ask(request)
        assert_equal [headers["date"], "1", nil, nil], headers.keys.map { |name| response[name] }
      end
    end
  end

  def test_a_close_that_is_repeated
    headers = { "connection" => "close" }.freeze
    app { [200, headers, ["x"]] }
    3.times do
      open_client do |client|
        assert client.ask(request).close?
        assert_equal :closed, client.ending
      end
    end
  end

  def test_a_fault_that_is_repeated
    headers = { "x" => "a\r\nb: c" }.freeze
    app { [200, headers, ["x"]] }
    3.times { open_client { |client| assert_equal 500, client.ask(request).status } }
  end

  private

  # A name and a value: the same objects as before, equal ones, frozen ones that nobody else has, or ones that change.
  def field(random, changing)
    name = NAMES.sample(random: random)
    value = VALUES.sample(random: random)
    case random.rand(6)
    when 0 then [name.dup, value]
    when 1 then [name, value.dup]
    when 2 then [name, "f#{random.rand(1_000)}".freeze]
    when 3 then [name, changing.sample(random: random)]
    when 4 then [changing.sample(random: random), value]
    else [name, value]
    end
  end

  def expected(fields)
    fields.flat_map do |name, value|
      lines = value.empty? ? [""] : value.split("\n")
      lines.map { |line| [name.dup, line.dup] }
    end
  end

  def own(response)
    response.fields.reject { |name, _| name.match?(/\A(date|content-length)\z/i) }
  end
end

# frozen_string_literal: true

# Responses that change while the server renders them: /WHO/WHAT?TIMES, where Ruby code that the server calls (WHO) does
# something to the response (WHAT).
class Changing
  # A field's name or value, or a body's part, that does something whenever it is asked for a String.
  class Trick
    def initialize(text, &change)
      @text = text
      @change = change
    end

    def to_s
      @change.call
      @text
    end
    alias to_str to_s
  end

  # Values that each gives one by one; between them something happens.
  class Values
    def initialize(values, &change)
      @values = values
      @change = change
    end

    def each
      @values.each do |value|
        yield value
        @change.call
      end
    end
    alias to_a each
  end

  # Headers that change while they are gone through.
  class Headers < Hash
    attr_accessor :change

    def each(&block)
      super do |*pair|
        block.call(*pair)
        change.call
      end
    end
    alias each_pair each
  end

  CHANGES = {
    "grow" => ->(_, body) { 2_000.times { body << "x" * 100 } },
    "empty" => ->(_, body) { body.clear },
    "shorten" => ->(_, body) { body.pop },
    "lengthen_parts" => ->(_, body) { body.each { |part| part << "more" * 1_000 if part.is_a?(String) } },
    "empty_parts" => ->(_, body) { body.each { |part| part.clear if part.is_a?(String) } },
    "no_strings" => ->(_, body) { body.map! { nil } },
    "clear_headers" => ->(headers, _) { headers.clear },
    "add_headers" => ->(headers, _) { 200.times { |number| headers["x-#{number}"] = "y" * 100 } },
    "change_values" => ->(headers, _) { headers.each_value { |value| value.clear if value.respond_to?(:clear) } },
    "collect" => ->(*) { GC.start }
  }.freeze

  def call(env)
    _, who, what = env["PATH_INFO"].split("/")
    body = Array.new(Integer(env["QUERY_STRING"])) { +"hello" }
    headers = Headers.new
    headers["x-list"] = [+"a" * 20, +"b" * 20]
    headers["x-text"] = +"c" * 20
    change = -> { CHANGES.fetch(what).call(headers, body) rescue nil } # a Hash that is gone through takes no new key
    headers.change = -> {}
    public_send(who, headers, body, change)
    headers["x-last"] = +"d" * 20
    [200, headers, body]
  end

  def value(headers, _, change) = headers["x-trick"] = Trick.new("e", &change)

  def values(headers, _, change) = headers["x-trick"] = [Trick.new("e", &change), +"f", Trick.new("g", &change)]

  def each_value(headers, _, change) = headers["x-trick"] = Values.new(%w[e f g], &change)

  def key(headers, _, change) = headers[Trick.new("x-trick", &change)] = "e"

  def length(headers, body, change) = headers["content-length"] = Trick.new((body.size * 5).to_s, &change)

  def each_header(headers, _, change) = headers.change = change

  def part(_, body, change) = body << Trick.new("e", &change)
end

run Changing.new

# frozen_string_literal: true

require "digest/md5"
require_relative "reports"

# The app of the oracle: it follows the instructions in the X-App fields of a request (see Answers), right or wrong. It
# notes what it saw and the calls to its objects.
class App
  # Keys of an env that belong to one server or one moment.
  OWN = %w[rack.hijack rack.early_hints rack.errors rack.input cuttle.queue_time cuttle.ledger SERVER_PORT
           rack.hijack_io rack.response_finished rack.after_reply].freeze
  FILE = File.expand_path("../../../LICENSE", __dir__)

  # +turns+ gets an Array of notes for each request. With two requests on a connection, the first may close its body
  # while the second one is already in the app.
  def initialize(turns)
    @turns = turns
  end

  def call(env)
    @turns << (notes = [])
    Turn.new(env, notes).answer
  end

  # One request.
  class Turn
    def initialize(env, notes)
      @env = env
      @notes = notes
      @orders = Hash.new { |orders, word| orders[word] = [] }
      env["HTTP_X_APP"].to_s.split(",").each do |order|
        word, *arguments = order.strip.split
        @orders[word] << arguments.map { |argument| decode(argument) } if word
      end
    end

    def answer
      @notes << [:env, @env.except(*OWN).sort.inspect]
      @env["rack.errors"] = Reports.new(@notes)
      read
      others
      fail_on("call")
      return take_over if word?("hijack")

      triple([status, headers, body])
    end

    # Called by a body while the server iterates over it.
    def visit(event)
      @notes << [event]
      fail_on(event.to_s)
    end

    def fail_on(place)
      return unless @orders["raise"].flatten.include?(place)

      raise "on purpose: #{place}"
    end

    # Yields the parts of the body.
    def each_part
      parts.each_with_index do |part, index|
        yield part
        fail_on("each1") if index.zero?
      end
    end

    def stream(stream)
      visit(:stream)
      @notes << [:stream_read, stream.read.to_s.b] if option?("stream", "read")
      each_part { |part| stream << part }
      stream.flush if word?("flush")
      option?("stream", "error") ? stream.close(RuntimeError.new("on purpose")) : stream.close
      stream.close if option?("stream", "twice")
      fail_on("finished")
      stream.write("late") if option?("stream", "late")
    end

    private

    def word?(word) = @orders.key?(word)
    def option?(word, option) = @orders.key?(word) && @orders[word].flatten.include?(option)

    def decode(text)
      text == "-" ? +"" : text.b.gsub(/%(\h\h)/n) { $1.hex.chr }.force_encoding(Encoding::UTF_8)
    end

    # The request's body, as this app reads it.
    def read
      input = @env["rack.input"]
      found =
        case @orders["read"].flatten.first
        when "none" then nil
        when "part" then [input.read(2), input.read(0)]
        when "twice" then [input.read, input.read, input.read(1)]
        when "gets" then [input.gets, input.gets]
        when "each" then [].tap { |lines| input.each { |line| lines << line } }
        when "close" then input.close if input.respond_to?(:close)
        else [input.read]
        end
      @notes << [:input, *found.to_a.map { |text| text && [text.bytesize, Digest::MD5.hexdigest(text), text.encoding] }]
    end

    def others
      signals
      hints if word?("hints")
      if word?("finished")
        @env["rack.response_finished"] << lambda do |_env, status, headers, error|
          @notes << [:finished, status.inspect, headers.class, error.class]
          fail_on("finished")
        end
      end
      @env["rack.after_reply"] << -> { visit(:after) } if word?("after")
      @env["x"] = Object.new if word?("env")
    end

    def signals
      raise SystemExit if option?("raise", "exit")
      raise SignalException, "TERM" if option?("raise", "signal")

      throw(:nobody) if option?("raise", "throw")
    end

    def hints
      headers = option?("hints", "bad") ? { "link" => "a\r\nb" } : { "link" => %w[</a> </b>], "x-a" => "1\n2" }
      @env["rack.early_hints"].call(headers)
    end

    # Speaks on the socket itself.
    def take_over
      socket = @env["rack.hijack"].call
      @notes << [:hijacked, @env["rack.hijack_io"].equal?(socket)]
      raise "on purpose" if option?("hijack", "raise")

      converse(socket)
      [200, {}, []]
    ensure
      socket&.close
    end

    def converse(socket)
      socket.write("hello\r\n")
      @notes << [:heard, socket.read.b]
      socket.write("bye\r\n")
      socket.close
    end

    def status
      fail_on("status")
      text = @orders["status"].flatten.first or return word?("upgrade") ? 101 : 200
      case text
      when /\A-?\d+\z/ then text.to_i
      when "nil" then nil
      when "200.5" then 200.5
      when ":ok" then :ok
      else text.delete('"')
      end
    end

    def headers
      fail_on("fields")
      pairs = @orders["field"].map { |name, value = ""| [name_of(name.to_s), value_of(value)] }
      partial = word?("partial") || word?("partial+body")
      pairs << ["rack.hijack", ->(socket) { hijacked(socket) }] if partial
      pairs << %w[upgrade x] << %w[connection upgrade] if word?("upgrade")
      container(pairs)
    end

    def hijacked(socket)
      raise "on purpose" if option?("partial", "raise")

      converse(socket)
    end

    def container(pairs)
      case @orders["fields"].flatten.first
      when "array" then pairs
      when "nil" then nil
      when "number" then 5
      when "pairs" then pairs.each
      when "frozen" then pairs.to_h.freeze
      when "empty" then {}
      else pairs.each_with_object({}) { |(name, value), all| all[name] = value }
      end
    end

    def name_of(name)
      case @orders["name"].flatten.first
      when "symbol" then name.to_sym
      when "number" then 5
      when "nil" then nil
      else name
      end
    end

    def value_of(value)
      case @orders["value"].flatten.first
      when "array" then [value, "x"]
      when "nested" then [[value], nil, 5]
      when "nil" then nil
      when "number" then value.to_i
      when "symbol" then value.to_sym
      else value
      end
    end

    def triple(triple)
      case @orders["triple"].flatten.first
      when "short" then triple.first(2)
      when "long" then [*triple, 1]
      when "nil" then nil
      when "frozen" then triple.each(&:freeze).freeze
      else triple
      end
    end

    def parts
      return ["hello"] if @orders["part"].empty?

      @orders["part"].map { |text, form| form == "times" ? "x" * text.to_i : part(text, form) }
    end

    def part(text, form)
      return text unless form == "odd"

      case text
      when "nil" then nil
      when "1" then 1
      when ":a" then :a
      when "utf16" then "hé".encode("UTF-16LE")
      when "frozen" then "frozen"
      else Class.new(String).new("sub")
      end
    end

    def body
      kind = @orders["body"].flatten.last || "array"
      case kind
      when "array" then parts
      when "enum" then Enumerator.new { |all| each_part { |one| all << one } }
      when "sub" then Class.new(Array).new(parts)
      when "string" then "a String"
      when "file" then File.open(FILE)
      when "nil" then nil
      when "number" then 5
      when "hash" then { "a" => "b" }
      when "object" then Object.new
      else Body.make(kind, self) { parts }
      end
    end
  end

  # Bodies with the methods that their kind names.
  class Body
    def self.make(kind, turn, &parts)
      new(turn, parts).tap { |body| kind.split("+").each { |each| body.extend(const_get(each.capitalize)) } }
    end

    def initialize(turn, parts)
      @turn = turn
      @parts = parts
    end

    def close = @turn.visit(:close)

    # An Enumerable.
    module Each
      include Enumerable

      def each(&block)
        @turn.visit(:each)
        @turn.each_part(&block)
      end
    end

    # An Array-like, in the words of Rack 3.
    module Ary
      def to_ary
        @turn.visit(:to_ary)
        @parts.call
      end
    end

    # Files that exist, that don't exist, and objects that are not files. Each of them can be enumerated.
    module Path
      include Each

      def to_path = FILE
    end

    module Missing
      include Each

      def to_path = "/nonexistent/file"
    end

    module Directory
      include Each

      def to_path = "/"
    end

    # A streaming body.
    module Proc
      def call(stream) = @turn.stream(stream)
    end
  end
end

# frozen_string_literal: true

# Response bodies for tests. Each counts how often it was closed.
module Bodies
  # Yields its parts, then raises +error+ if it has one.
  class Parts
    attr_reader :closes

    def initialize(*parts, error: nil)
      @parts = parts
      @error = error
      @closes = 0
    end

    def each(&block)
      @parts.each(&block)
      raise @error if @error
    end

    def close
      @closes += 1
    end
  end

  # A streaming body: the block gets the stream.
  class Streaming
    attr_reader :closes, :stream

    def initialize(&block)
      @block = block
      @closes = 0
    end

    def call(stream)
      @stream = stream
      @block.call(stream)
    end

    def close
      @closes += 1
    end
  end

  # A file's content, by name. Iterating gives +fallback+ instead.
  class OfFile < Parts
    attr_reader :to_path

    def initialize(path, *fallback)
      super(*fallback)
      @to_path = path
    end
  end
end

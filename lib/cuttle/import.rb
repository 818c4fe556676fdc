# frozen_string_literal: true

module Cuttle
  # Turns the configuration file of another server into one of ours: evaluates it with a recorder in place of that
  # server, and writes its settings in our words. It reports words that have no equivalent, and lines that read the
  # environment.
  class Import
    autoload :Block, "cuttle/import/block"
    autoload :Puma, "cuttle/import/puma"
    autoload :Recorder, "cuttle/import/recorder"
    autoload :Unicorn, "cuttle/import/unicorn"

    # Server => its words, with the translation of each.
    SERVERS = { "puma" => :Puma, "unicorn" => :Unicorn }.freeze

    # Something that the user has to check: the line in the other file, and what to do.
    Remark = Struct.new(:place, :text) do
      def to_s = "#{place}: #{text}"
    end

    # What the user should check for a Unix socket without permissions of its own.
    SOCKET = "that server lets every user connect to this socket; here the umask of the process counts: add " \
             "?umask=0117 (or ?mode=0660) for a proxy of the same group"

    # A translation raises it for a call that has no equivalent. Its message says why, or what to use instead.
    class NoEqual < StandardError; end

    # Values that can be written into a file.
    SIMPLE = [Integer, String, Symbol, true, false, nil].freeze

    # +value+ as Ruby code. Raises NoEqual for an object that can't be written as text; +name+ says whose value it is.
    def self.literal(value, name = "the value")
      case value
      when *SIMPLE then value.inspect
      when Float then value.finite? ? value.inspect : "Float::INFINITY"
      when Range then "(#{literal(value.begin, name)}#{value.exclude_end? ? "..." : ".."}#{literal(value.end, name)})"
      when Array then "[#{value.map { |each| literal(each, name) }.join(", ")}]"
      when Hash then "{ #{value.map { |pair| pair.map { |each| literal(each, name) }.join(" => ") }.join(", ")} }"
      else
        return value.to_s.inspect if defined?(::Pathname) && value.is_a?(::Pathname)

        raise NoEqual, "#{name} is an object; #{Block::BY_HAND}"
      end
    end

    # Our file, and the Remarks, in the order of the lines.
    attr_reader :text, :remarks

    # +path+ is the other server's file. +server+ is its name; nil: by the name of the file, otherwise puma. Raises
    # Error.
    def initialize(path, server: nil)
      @path = path
      @words = words(server || SERVERS.keys.find { |name| File.basename(path).include?(name) } || "puma")
      @remarks = []
      @written = []
      @recorder = Recorder.new(path, @words)
      @recorder.run
      @text = [*heading, *unsaid, *calls.flat_map { |call| lines(call) }].map { |line| "#{line}\n" }.join
      @remarks.concat(strangers, readings)
    end

    private

    def calls = @recorder.calls

    def words(server)
      name = SERVERS.fetch(server) { raise UsageError, "unknown server #{server}: #{SERVERS.keys.join(", ")}" }
      Import.const_get(name)
    end

    def heading
      ["# frozen_string_literal: true", "",
       "# Made from #{@path} by cuttle import. The values are those that the file had then.", *changing]
    end

    # The other file's lines that read the environment, as comments, so that a user can restore them.
    def changing
      return [] if @recorder.readings.empty?

      ["# These lines of it depend on the environment. To keep that, put them in place of their values:",
       *@recorder.readings.keys.map { |place| "#   #{@recorder.source(place)}" }]
    end

    # Our lines for what the other server does without a word in its file.
    def unsaid
      lines = @words.unsaid(calls).map { |word, *arguments| line(word, arguments) }
      lines.empty? ? [] : ["# What that server does, although its file does not say so:", *lines]
    end

    # Our lines for one call; none if it has no equivalent.
    def lines(call)
      lines = @words.translate(call, calls).map { |word, *arguments| line(word, arguments, call.block) }
      return [] if lines.empty?

      lines = needs(call) + lines if call.block
      hint = @words.hint(call, calls)
      @remarks << Remark.new(call.place, "#{call.word}: #{hint}") if hint
      lines
    rescue NoEqual => error
      @remarks << Remark.new(call.place, "#{call.word}: #{error.message}")
      []
    rescue ArgumentError => error
      raise Error, "#{call.place}: #{call.word}: #{error.message}"
    end

    # The code that a block needs, unless it was written already.
    def needs(call)
      new = [*@recorder.libraries, *call.block.needs] - @written
      @written |= new
      new
    end

    def line(word, arguments, block = nil)
      code = [word, arguments.map { |value| Import.literal(value) }.join(", ")].reject(&:empty?).join(" ")
      block ? "#{code} #{block.text(@words::FOREIGN.first)}" : code
    end

    def strangers
      @recorder.strange.map { |place| Remark.new(place, "uses what only #{@words::FOREIGN.first} has; look at it") }
    end

    def readings
      @recorder.readings.map do |place, names|
        told = names.map { |name| ENV.key?(name) ? "#{name} (set)" : "#{name} (not set)" }
        Remark.new(place, "depends on #{told.join(", ")}")
      end
    end
  end
end

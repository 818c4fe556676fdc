# frozen_string_literal: true

module Cuttle
  # Turns the configuration file of another server into one of ours: evaluates it with a recorder in the place of that
  # server, and writes what it said in our words. What has no equal, and which lines read the environment, is told.
  class Import
    autoload :Puma, "cuttle/import/puma"
    autoload :Recorder, "cuttle/import/recorder"
    autoload :Unicorn, "cuttle/import/unicorn"

    # Server => its words: what becomes of each.
    SERVERS = { "puma" => :Puma, "unicorn" => :Unicorn }.freeze

    # A thing that the user has to look at: the line in the other file, and what to do.
    Remark = Struct.new(:place, :text) do
      def to_s = "#{place}: #{text}"
    end

    # Raised by a translation for a call that has no equal; its message says why, or what to use.
    class NoEqual < StandardError; end

    # Our file, and the Remarks, in the order of the lines.
    attr_reader :text, :remarks

    # +path+ is the other server's file. +server+ is its name; nil: by the name of the file, otherwise puma. Raises
    # Error.
    def initialize(path, server: nil)
      @path = path
      @words = words(server || SERVERS.keys.find { |name| File.basename(path).include?(name) } || "puma")
      @remarks = []
      @recorder = Recorder.new(path, @words)
      @recorder.run
      @text = [*heading, *@recorder.calls.flat_map { |call| lines(call) }].map { |line| "#{line}\n" }.join
      @remarks.concat(readings)
    end

    private

    def words(server)
      name = SERVERS.fetch(server) { raise UsageError, "unknown server #{server}: #{SERVERS.keys.join(", ")}" }
      Import.const_get(name)
    end

    def heading
      ["# frozen_string_literal: true", "",
       "# Made from #{@path} by cuttle import. The values are those that the file had then."]
    end

    # Our lines for one call; none if it has no equal.
    def lines(call)
      @words.translate(call).map { |word, *arguments| line(word, arguments, call) }
    rescue NoEqual => error
      @remarks << Remark.new(call.place, "#{call.word}: #{error.message}")
      []
    rescue ArgumentError => error
      raise Error, "#{call.place}: #{call.word}: #{error.message}"
    end

    def line(word, arguments, call)
      code = [word, arguments.map(&:inspect).join(", ")].reject(&:empty?).join(" ")
      call.source ? "#{code}#{call.source}" : code
    end

    def readings
      @recorder.readings.map do |place, names|
        told = names.map { |name| ENV.key?(name) ? "#{name} (set)" : "#{name} (not set)" }
        Remark.new(place, "depends on #{told.join(", ")}")
      end
    end
  end
end

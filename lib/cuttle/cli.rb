# frozen_string_literal: true

module Cuttle
  # The command line: finds the command, and turns errors into one line and an exit status.
  #
  #   0 done · 1 an Error · 2 a UsageError · 130 interrupted
  #
  # A command is a class in its own file, loaded when it is called. It has new(out:, err:) and run(arguments), which
  # returns the exit status, raises Error or UsageError, and throws :help with a text, or :version, if that is what was
  # asked for. One line in COMMANDS adds a command.
  class CLI
    Command = Struct.new(:name, :file, :constant, :summary)

    COMMANDS = [
      Command.new("serve", "cuttle/cli/serve", :Serve, "serve a Rack app, or a directory of files"),
      Command.new("ctl", "cuttle/cli/ctl", :Ctl, "control a running server: status, stats, stop, restart, …"),
      Command.new("top", "cuttle/cli/top", :Top, "watch a running server: workers, rate, latencies, memory"),
      Command.new("check", "cuttle/cli/check", :Check, "print the settings of serve, and where each comes from"),
      Command.new("import", "cuttle/cli/import", :Import, "make a configuration file from Puma's or Unicorn's"),
      Command.new("load", "cuttle/cli/load", :Load, "generate load; report throughput and latency"),
      Command.new("lab", "cuttle/cli/lab", :Lab, "measure which concurrency model is right for an app"),
      Command.new("tune", "cuttle/cli/tune", :Tune, "find the engine, the workers and the threads for an app"),
      Command.new("advise", "cuttle/cli/advise", :Advise, "say how many workers and threads a running server needs"),
      Command.new("study", "cuttle/cli/study", :Study, "repeat the published experiments on Ruby servers"),
      Command.new("help", "cuttle/cli/help", :Help, "describe a command"),
      Command.new("version", "cuttle/cli/version", :Version, "print the versions of Cuttle and Ruby")
    ].freeze

    # Commands that are spelled like options.
    ALIASES = {
      "-h" => "help", "--help" => "help", "-V" => "version", "-v" => "version", "--version" => "version"
    }.freeze

    # The class of the command called +name+. Raises UsageError, and Error if the command's gem isn't installed.
    def self.command(name)
      command = COMMANDS.find { |candidate| candidate.name == name } or
        raise UsageError, "unknown command #{name}: #{COMMANDS.map(&:name).join(", ")}"
      require command.file
      const_get(command.constant)
    rescue LoadError => error
      raise if error.path != command.file

      raise Error, "the command #{name} is in the gem cuttle-lab: gem install cuttle-lab -v #{VERSION}, " \
                   "or gem \"cuttle-lab\" in your Gemfile"
    end

    # The manual page of all commands.
    def self.manual
      words = command("ctl")::WORDS
      Settings::Manual.new(commands: COMMANDS.to_h { |each| [each.name, each.summary] }, words: words).text
    end

    # The command that +word+ means if it is an option instead, otherwise +word+ itself. Takes `cuttle --version` and
    # the same abbreviations as OptionParser.
    def self.question(word)
      spelling = ALIASES.keys.find { |key| key == word || (word.match?(/\A--./) && key.start_with?(word)) }
      ALIASES.fetch(spelling, word)
    end

    # Adds --version, with its +short+ spellings, and --help to the OptionParser of a command. Each ends the command.
    def self.tell_version_and_help(parser, short: %w[-V -v])
      parser.on(*short, "--version", "print the version") { throw :version }
      parser.on("-h", "--help", "show this help") { throw :help, parser.help }
    end

    # What +parser+ leaves of the arguments. Raises UsageError.
    def self.parse(parser, arguments)
      parser.parse(arguments)
    rescue OptionParser::ParseError => error
      raise UsageError, error.message
    end

    # The two operands of a comparison, which has no option but --help. Raises UsageError.
    def self.two(arguments, usage, complaint)
      throw :help, usage if arguments.intersect?(%w[-h --help])
      raise UsageError, complaint unless arguments.length == 2

      arguments
    end

    # The one directory in +words+, of the command +name+. Raises UsageError.
    def self.directory(words, name)
      unknown = words.find { |word| word.start_with?("-") }
      raise UsageError, "unknown option #{unknown}" if unknown
      raise UsageError, "#{name} takes one directory" unless words.length == 1

      words.first
    end

    def initialize(out: $stdout, err: $stderr)
      @out = out
      @err = err
    end

    # Runs a whole command line. Returns the exit status.
    def run(arguments)
      debug = arguments.include?("--debug")
      name, *rest = arguments
      help = catch(:help) do
        catch(:version) { return command(self.class.question(name || "help"), rest) }
        return command("version", [])
      end
      @out.puts help
      0
    rescue UsageError => error
      complain(error, debug)
      @err.puts "Usage: cuttle #{usage(name)}"
      2
    rescue Interrupt
      130
    rescue Errno::EPIPE
      1 # the reader of our output has closed it
    rescue Error, StandardError, ScriptError => error
      complain(error, debug)
      1
    end

    private

    def command(name, arguments)
      self.class.command(name).new(out: @out, err: @err).run(arguments)
    end

    def usage(name)
      COMMANDS.any? { |command| command.name == name } ? "#{name} --help" : "COMMAND [OPTION …], see cuttle help"
    end

    # Prints one line. --debug adds the backtrace.
    def complain(error, debug)
      @err.puts "cuttle: #{Error.line(error)}"
      @err.puts error.full_message(highlight: false) if debug
    end
  end
end

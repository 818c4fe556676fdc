# frozen_string_literal: true

module Cuttle
  class Settings
    # The manual page cuttle(1), in the macros of man(7). `rake readme` writes it to man/cuttle.1.
    class Manual
      PATH = "man/cuttle.1"

      DESCRIPTION = <<~TEXT
        Cuttle serves a Rack app under one of several concurrency models: a loop, threads, a reactor, a reactor with
        threads, fibers or ractors, alone or in forked workers. PATH is a rackup file or a directory of files; the
        default is config.ru in this directory.
      TEXT

      OPTIONS = <<~TEXT
        0 or none turns a limit or a timeout off, except that --shutdown-timeout 0 means: do not wait. SIZE is in
        octets: 512, 64K, 16M, 1G. Options override --like, --like overrides the configuration file, the file
        overrides environment variables, and these override the defaults. cuttle check prints each setting and where
        it comes from.
      TEXT

      SIGNALS = {
        "TERM, INT, QUIT" => "stop: accept no more connections, answer the requests under way, and exit",
        "INT, a second time" => "exit at once. Workers are killed",
        "HUP" => "open the output files and read the certificates again. A server that has neither stops",
        "USR1" => "phased restart: load the app again, and replace the workers one by one",
        "USR2" => "hot restart: execute the program again, with the present code and configuration. Listeners stay " \
                  "open",
        "TTIN, TTOU" => "one worker more, one worker fewer",
        "PWR (Linux), INFO (BSD)" => "print where the threads of the workers are, to standard error"
      }.freeze

      FILES = {
        "config.ru" => "the app, if no PATH is given",
        "config/cuttle.rb, config/cuttle/ENVIRONMENT.rb" =>
          "the configuration file: Ruby with a word for each setting, and hooks. The second is for one environment, " \
          "and takes precedence",
        "tmp/restart.txt" => "with plugin :tmp_restart in the configuration file, touching it restarts the server"
      }.freeze

      STATUSES = {
        "0" => "done, or the server stopped as requested",
        "1" => "an error, described in one line; or requests were still under way after --shutdown-timeout, or a " \
               "worker had to be killed",
        "2" => "a wrong option or setting",
        "75" => "a worker ended because a request was stuck (--app-timeout). Its supervisor starts another",
        "130" => "interrupted twice, without workers"
      }.freeze

      # Variables that belong to no setting of the table.
      VARIABLES = {
        "CUTTLE_BACKEND" => "how evented engines wait: one of the names that Cuttle::Poller.backends returns",
        "TMPDIR" => "the directory of temporary files",
        "LISTEN_FDS, NOTIFY_SOCKET, WATCHDOG_USEC" => "set by systemd: sockets, and where to send notifications"
      }.freeze

      # +commands+: name => what it does; +words+: the same of `cuttle ctl`.
      def initialize(commands:, words:)
        @commands = commands
        @words = words
      end

      # The whole page.
      def text
        [".TH CUTTLE 1 \"\" \"Cuttle #{VERSION}\" \"User Commands\"", ".nh", ".ad l", *name, *synopsis,
         *section("DESCRIPTION"), *paragraphs(DESCRIPTION), *section("COMMANDS"), *list(@commands),
         *paragraphs("The commands load, lab, tune, advise and study are in the gem cuttle-lab."), *options,
         *listed("ENGINES", Engines), *listed("PARSERS", Http::Parsers), *control, *variables, *section("SIGNALS"),
         *paragraphs("Send them to the supervisor of the workers, or to the only process."), *list(SIGNALS),
         *section("FILES"), *list(FILES), *section("EXIT STATUS"), *list(STATUSES), *more].join("\n") << "\n"
      end

      private

      def name
        [*section("NAME"), "cuttle \\- #{escape("a Ruby web server with every concurrency model")}"]
      end

      def synopsis
        [*section("SYNOPSIS"), ".B cuttle serve", escape("[PATH] [OPTION ...]"), ".br", ".B cuttle",
         escape("COMMAND [OPTION ...]")]
      end

      def options
        rows = TABLE.reject { |row| row.flags.empty? }.chunk_while { |one, other| one.group == other.group }
        [*section("OPTIONS OF CUTTLE SERVE"), *paragraphs(OPTIONS),
         *rows.flat_map { |group| [".SS #{escape(group.first.group)}", *list(group.to_h { |row| option(row) })] },
         ".SS Questions", *list("-h, --help" => "show the options", "-V, --version" => "print the version")]
      end

      def option(row)
        default = row.default_text
        default = nil if row.argument.nil? && default == "off"
        [row.flags.join(", "), [row.help, ("(#{default})" if default)].compact.join(" ")]
      end

      # The entries of a Catalogue.
      def listed(title, catalogue)
        [*section(title), *list(catalogue.names.to_h { |name| [name, catalogue.describe(name)] })]
      end

      def control
        [*section("COMMANDS OF CUTTLE CTL"), *list(@words)]
      end

      def variables
        rows = TABLE.reject { |row| row.variables.empty? }
        own = rows.to_h { |row| [[*row.variables, row.minimum].compact.join(", "), "as #{row.flag}"] }
        [*section("ENVIRONMENT"), *paragraphs("If a setting has several variables, the first one that is set counts."),
         *list(own.merge(VARIABLES))]
      end

      def more
        [*section("SEE ALSO"),
         *paragraphs("cuttle COMMAND --help; docs/configuration.md, docs/deployment.md, docs/security.md and " \
                     "docs/migrating-from-puma.md in the directory of the gem (gem contents cuttle).")]
      end

      def section(title) = [".SH #{escape(title)}"]

      def paragraphs(text) = [".PP", escape(text.split.join(" "))]

      # Terms, each with its meaning.
      def list(entries)
        entries.flat_map { |term, meaning| [".TP", ".B #{escape(term)}", escape(meaning)] }
      end

      # Escapes text for roff: no line begins with a control character, and a hyphen can be copied as a hyphen.
      def escape(text)
        text.gsub("\\", "\\e").gsub("-", "\\-").gsub("'", "\\(aq").gsub("…", "...").sub(/\A(?=\.)/, "\\\\&")
      end
    end
  end
end

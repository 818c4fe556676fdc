# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    # `cuttle import FILE`: makes our configuration file from that of Puma or Unicorn.
    class Import
      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Returns the exit status. Raises UsageError and Error.
      def run(arguments)
        paths = CLI.parse(parser, arguments)
        raise UsageError, "give the FILE to import" unless paths.length == 1

        import = Cuttle::Import.new(paths.first, server: @server)
        write(import.text)
        import.remarks.each { |remark| @err.puts "cuttle: #{remark}" }
        0
      end

      private

      def parser
        OptionParser.new do |options|
          options.banner = "Usage: cuttle import FILE [OPTION …]"
          options.separator "FILE is a configuration file of Puma or Unicorn. The command runs the Ruby code in it."
          options.on("-o", "--output FILE", "write there, instead of to standard output") { |path| @output = path }
          options.on("--server NAME", "the file's server: #{Cuttle::Import::SERVERS.keys.join(" or ")}") do |name|
            @server = name
          end
          CLI.tell_version_and_help(options, short: %w[-V])
        end
      end

      # Never overwrites a file.
      def write(text)
        return @out.print(text) unless @output

        File.open(@output, File::WRONLY | File::CREAT | File::EXCL) { |file| file.write(text) }
        @err.puts "cuttle: wrote #{@output}; cuttle check -C #{@output} prints the settings"
      rescue SystemCallError => error
        raise Error, "can't write #{@output}: #{error.class.new.message}"
      end
    end
  end
end

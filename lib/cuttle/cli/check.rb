# frozen_string_literal: true

require "cuttle/cli/serve"

module Cuttle
  class CLI
    # `cuttle check [PATH]`: takes the options of serve, starts no server, and prints each setting with its value and
    # the origin of the value. Certificates that can't be used are an error.
    class Check < Serve
      private

      def command = "check"

      def start(settings, _configuration)
        Dir.chdir(settings.base) { read_certificates(settings) }
        list(settings)
        0
      end

      def read_certificates(settings)
        settings.binds.filter_map { |uri| Listeners.tls(uri) }.each do |tls|
          library = Cores.tls(settings.core)
          tls.prepare(library) unless tls.bare?
        end
      end

      def list(settings)
        rows = Settings::TABLE.map do |row|
          [row.name.to_s, row.write(settings.public_send(row.name)), settings.place(row.name) || "default"]
        end
        widths = rows.transpose.map { |column| column.map(&:length).max }
        rows.each { |name, value, place| @out.puts "#{name.ljust(widths[0])}  #{value.ljust(widths[1])}  #{place}" }
      end
    end
  end
end

# frozen_string_literal: true

require "fileutils"
require "optparse"

module Cuttle
  class CLI
    class Lab
      # `cuttle lab peers`: lists the servers that a lab can use on this machine, and installs the others.
      class Peers
        USAGE = "Usage: cuttle lab peers [--install [NAME …]]"

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status: 1 if an installation failed. Raises UsageError.
        def run(arguments)
          install = false
          names = parser { install = true }.parse(arguments)
          return 0 if @help
          raise UsageError, "names go with --install" if names.any? && !install

          install ? install(names) : list
        rescue OptionParser::ParseError => error
          raise UsageError, error.message
        end

        private

        def parser
          OptionParser.new do |parser|
            parser.banner = USAGE
            parser.on("--install", "install those that are named, or all, each in a gem directory of its own") { yield }
            CLI.tell_version(parser, "-V", "-v")
            parser.on("-h", "--help", "this") { @out.puts(parser) || @help = true }
          end
        end

        def list
          Cuttle::Lab::Peers.all.each do |peer|
            @out.puts "#{peer.name.ljust(10)} #{(peer.unavailable ? "-" : peer.version).ljust(8)} #{remark(peer)}"
          end
          0
        end

        def remark(peer)
          peer.unavailable || Cuttle::Lab::Peers.describe(peer.name)
        end

        def install(names)
          peers = names.empty? ? Cuttle::Lab::Peers.all : names.map { |name| Cuttle::Lab::Peers.find(name) }
          failed = peers.select(&:unavailable).reject { |peer| installed?(peer) }
          list if failed.empty?
          failed.empty? ? 0 : 1
        end

        # Debian's packages are for the machine's owner to install.
        def installed?(peer)
          reason = peer.gems ? installed_anew(peer.home) : peer.unavailable
          @err.puts "cuttle: #{peer.name}: #{reason}" if reason
          reason.nil? || peer.gems.nil?
        end

        # Removes older versions first, because the newest installed version would run.
        def installed_anew(home)
          FileUtils.rm_rf(home.path)
          home.install
        end
      end
    end
  end
end

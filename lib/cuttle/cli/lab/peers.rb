# frozen_string_literal: true

require "fileutils"
require "optparse"

module Cuttle
  class CLI
    class Lab
      # `cuttle lab peers`: which servers a lab can have on this machine, and how to get the others.
      class Peers
        USAGE = "Usage: cuttle lab peers [--install [NAME …]]"

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status: 1 where something could not be installed. Raises UsageError.
        def run(arguments)
          install = false
          names = CLI.parse(parser { install = true }, arguments)
          raise UsageError, "names go with --install" if names.any? && !install

          install ? install(names) : list
        end

        private

        def parser
          OptionParser.new do |parser|
            parser.banner = USAGE
            parser.on("--install", "install the named servers, or all, each in its own gem directory") { yield }
            CLI.tell_version_and_help(parser)
          end
        end

        def list
          Cuttle::Lab::Servers::Peers.all.each do |peer|
            @out.puts "#{peer.name.ljust(10)} #{(peer.unavailable ? "-" : peer.version).ljust(8)} #{remark(peer)}"
          end
          0
        end

        def remark(peer)
          peer.unavailable || Cuttle::Lab::Servers::Peers.describe(peer.name)
        end

        def install(names)
          all = Cuttle::Lab::Servers::Peers
          peers = names.empty? ? all.all.reject(&:unsuited) : names.map { |name| all.find(name) }
          failed = peers.select(&:unavailable).reject { |peer| installed?(peer) }
          list if failed.empty?
          failed.empty? ? 0 : 1
        end

        # Debian's packages are for the machine's owner to install.
        def installed?(peer)
          reason = peer.unsuited || (peer.gems ? reinstall(peer.gem_directory) : peer.unavailable)
          @err.puts "cuttle: #{peer.name}: #{reason}" if reason
          reason.nil? || peer.gems.nil?
        end

        # Removes older versions first, because the newest installed version would run.
        def reinstall(directory)
          FileUtils.rm_rf(directory.path)
          directory.install
        end
      end
    end
  end
end

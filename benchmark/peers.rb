# frozen_string_literal: true

# The servers that Cuttle is measured beside: those of the lab (lib/cuttle/lab/servers/peers has the command lines), and some
# that only the benchmarks have, since nobody would choose one of them today. benchmark/setup installs them.
module Bench
  class OldPuma < ::Cuttle::Lab::Servers::Peers::Puma
    def gems = %w[puma:5.6.9 rack:<3]

    def arguments(setup)
      ["puma", "-C", "-", "-q", "-e", "production", "-b", "tcp://#{address(setup)}?backlog=#{setup.backlog}",
       "-t", "#{setup.threads}:#{setup.threads}", setup.app]
    end
  end

  # Started by rackup, with options of the handler's own. Rhebok forks; Mongrel has a thread per connection.
  class ByRackup < ::Cuttle::Lab::Servers::Peers::Peer
    def keeps_alive = [false]
    def handler = name
    def options = []

    def arguments(setup)
      ["rackup", "-s", handler, "-E", "production", "-o", "127.0.0.1", "-p", setup.port.to_s, *options, setup.app]
    end
  end

  class Rhebok < ByRackup
    def gems = %w[rhebok rack:<3]
    def workers = ANY
    def handler = "Rhebok"
    def options = ["-O", "MaxWorkers=1"]
  end

  class Mongrel < ByRackup
    # What comes after -- is for its extension, which is older than its compiler's warnings.
    def gems = ["mongrel:1.2.0.pre2", "rack:<2", "--", "--with-cflags=-O2 -Wno-error=format-security"]
  end

  # Debian's, with a Rack of its own.
  class Uwsgi < ::Cuttle::Lab::Servers::Peers::Peer
    def gems = %w[rack:<3]
    def package = "uwsgi-core and uwsgi-plugin-rack-ruby3.1"
    def keeps_alive = [false]
    def version = Program.version(program, "--version")

    def unavailable
      super || ("not installed (Debian: #{package})" unless executable)
    end

    def command(setup)
      [executable, "--plugin", "rack", "--http-socket", address(setup), "--disable-logging", "--add-header",
       "Connection:close", "--rb-gc-freq", "10000", "--processes", "1", "--rack", setup.app]
    end
  end

  OWN = { "puma-5.6" => OldPuma, "rhebok" => Rhebok, "mongrel" => Mongrel, "uwsgi" => Uwsgi }.freeze

  PEERS = %w[puma puma-5.6 iodine agoo itsi falcon thin webrick unicorn pitchfork rainbows yahns rhebok mongrel passenger
             uwsgi].map { |name| OWN.key?(name) ? OWN[name].new(name) : ::Cuttle::Lab::Servers::Peers.find(name) }.freeze
end

# frozen_string_literal: true

require "socket"

# APP, under a server of the lab: in a directory that is gone after the test, as the server is.
module ServedApp
  include TemporaryDirectory

  def setup
    File.write("#{@directory}/config.ru", self.class::APP)
  end

  def teardown
    @server&.stop
  end

  private

  # Starts the peer of that name, or skips where it isn't installed.
  def serve(name, setup)
    peer = Cuttle::Lab::Servers::Peers.find(name)
    skip peer.unavailable if peer.unavailable

    @server = Cuttle::Lab::Servers::Server.start(peer, setup)
  end

  # A Setup for it, on a free port.
  def made(model, **settings)
    port = Cuttle::Lab::Servers::Ports.free
    Cuttle::Lab::Servers::Setup.new(model: model, threads: 1, port: port, app: "#{@directory}/config.ru", env: {},
                                    log: "#{@directory}/#{port}.log", **settings)
  end

  # The proof of a setting: whether it is proved, what was wanted, what was found.
  def proved(setting)
    @server.proof.find { |each| each.setting == setting }.to_a.values_at(3, 1, 2)
  end
end

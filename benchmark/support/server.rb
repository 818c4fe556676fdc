# frozen_string_literal: true

module Bench
  # One run of one recipe's server, as the lab starts and stops its servers; probed whether it answers as it should.
  class Server < ::Cuttle::Lab::Servers::Server
    Failed = ::Cuttle::Lab::Failure

    # Runs the block with a server that answers, and stops it whatever happens.
    def self.open(recipe, cores, log_directory)
      server = start(recipe, setup(recipe, cores, log_directory))
      server.check(*recipe.probe)
      yield server
    ensure
      server&.stop
    end

    def self.setup(recipe, cores, log_directory)
      ::Cuttle::Lab::Servers::Setup.new(port: Http.free_port, cores: cores.server, env: recipe.env, **recipe.settings,
                               log: File.join(log_directory, "#{recipe.name.gsub(/[^\w.]+/, "-")}.log"))
    end

    def get(path)
      Http.get(port, path)
    end

    # A server that is fast at answering something else is not measured.
    def check(path, size)
      response = get(path)
      raise Failed, "answered #{response.status} to GET #{path}" unless response.status == 200
      return if size.nil? || response.body.bytesize == size

      raise Failed, "answered #{response.body.bytesize} octets to GET #{path} instead of #{size}"
    end
  end
end

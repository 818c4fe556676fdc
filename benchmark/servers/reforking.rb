# frozen_string_literal: true

module Bench
  # Puma with fork_worker, as a peer of the lab: its workers are forked from its first worker, which has served. It
  # can't load the app before the first fork.
  class ForkingPuma < Peers::Puma
    def gem_directory = Peers.find("puma").gem_directory
    def unavailable = Peers.find("puma").unavailable
    def workers = (2..)
    def worker_title = /\Apuma: cluster worker \d+/

    def arguments(setup)
      super.tap do |_, _, config, _|
        File.write(config, File.read(config).sub("preload_app!", "fork_worker 500"))
      end
    end
  end

  # Pitchfork whose workers are forked, twice, from a worker that has served.
  class ReforkingPitchfork < Peers::Pitchfork
    def gem_directory = Peers.find("pitchfork").gem_directory
    def unavailable = Peers.find("pitchfork").unavailable

    def arguments(setup)
      ["pitchfork", *super.drop(1)]
    end

    private

    def configuration(setup)
      [*super, "refork_after [100, 500, false]"]
    end
  end

  Peers.add(ForkingPuma.new("puma-fork_worker"))
  Peers.add(ReforkingPitchfork.new("pitchfork-refork"))
end

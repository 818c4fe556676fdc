# frozen_string_literal: true

module Bench
  # `cuttle serve` of a checkout at +root+ with flags of its own, as a peer of the lab that proves no settings: another
  # commit may know others.
  class Checkout < Peers::Cuttle
    def initialize(name, root, flags)
      super(name)
      @root = root
      @flags = flags
    end

    def command(setup)
      [RbConfig.ruby, "-I#{@root}/lib", "#{@root}/exe/cuttle", "serve", "-q", "-b", "tcp://#{address(setup)}", *@flags,
       setup.app]
    end

    def complete?(_server) = true

    private

    def settings(_server) = []
  end
end

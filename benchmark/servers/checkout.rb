# frozen_string_literal: true

module Bench
  # `cuttle serve` of the checkout at +root+ with its own flags, as a peer of the lab. It proves no settings, because
  # another commit may have others.
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

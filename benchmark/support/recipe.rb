# frozen_string_literal: true

module Bench
  # A server and how to run it, as the lab's servers are (Lab::Servers::Server, Lab::Servers::Setup). What every recipe is unless it says
  # otherwise:
  #   name, version, unavailable   what the tables call it; of the server; nil, or why it can't be run here
  #   prepare                      done once, before the first start
  #   settings                     Hash for Setup, beside port, cores, env and log
  #   command(setup)               argv
  #   environment(setup), env      Hashes for the process (nil unsets): the server's, and this recipe's
  #   complete?(server)            whether all of its processes are there, once it answers
  #   probe                        [path, size of the body or nil] of what it must answer
  class Recipe
    attr_reader :name, :env

    def initialize(name, env: {})
      @name = name
      @env = env
    end

    def version = nil
    def unavailable = nil
    def prepare = nil
    def settings = {}
    def environment(_setup) = {}
    def complete?(_server) = true

    # Hello's.
    def probe = ["/", 13]
  end
end

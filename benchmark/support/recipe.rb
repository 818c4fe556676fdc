# frozen_string_literal: true

module Bench
  # What every recipe (see Server) is unless it says otherwise.
  class Recipe
    attr_reader :name, :env

    def initialize(name, env: {})
      @name = name
      @env = env
    end

    def version
      nil
    end

    def unavailable
      nil
    end

    def prepare; end

    # Hello's.
    def probe
      ["/", 13]
    end
  end
end

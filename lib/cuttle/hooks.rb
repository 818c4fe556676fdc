# frozen_string_literal: true

module Cuttle
  # The blocks that a configuration file gives for moments in a server's life. NAMES says which process runs each.
  class Hooks
    # Our word => its other names.
    NAMES = {
      before_fork: [],                                # the mould, once it has loaded the app
      before_refork: %i[on_refork],                   # a worker that becomes the mould, with no request left
      before_worker_fork: %i[on_worker_fork],         # the mould, with the worker's index
      after_worker_fork: %i[after_worker_boot],       # the mould, with the worker's index
      before_worker_boot: %i[on_worker_boot],         # a worker, with its index
      before_worker_shutdown: %i[on_worker_shutdown], # a worker, with its index
      before_restart: %i[on_restart],                 # the supervisor, or the only process
      after_booted: %i[on_booted],                    # the supervisor, or the only process
      after_stopped: %i[on_stopped]                   # the supervisor, or the only process
    }.freeze

    # A block and the line that gave it.
    Hook = Struct.new(:block, :place)

    # The handler that answers for an app that raises, or nil (see Rack::Adapter).
    attr_accessor :failure

    def initialize
      @hooks = NAMES.transform_values { [] }
    end

    # Adds a block for +name+, which is called after the earlier ones.
    def add(name, place, &block)
      @hooks.fetch(name) << Hook.new(block, place)
    end

    # Calls the blocks for +name+ in their order. Raises Error if one raises; then the others are not called.
    def call(name, *arguments)
      @hooks.fetch(name).each do |hook|
        hook.block.call(*arguments)
      rescue SystemExit, SignalException
        raise
      rescue Exception => error # rubocop:disable Lint/RescueException -- it may run in the thread that obeys signals
        raise Error, "#{hook.place}: #{name}: #{Error.line(error)}"
      end
    end

    # Calls the blocks for +name+ at a moment that an error can't stop. The error is reported.
    def attempt(name, *arguments)
      call(name, *arguments)
    rescue Error => error
      Cuttle.report(error.message)
    end
  end
end

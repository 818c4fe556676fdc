# frozen_string_literal: true

require "delegate"
require "rbconfig"

module Cuttle
  module Lab
    module Peers
      # A peer as it serves an app with a bundle of its own: with gems of both (see Bundle). Where they don't go
      # together it is unavailable.
      class Bundled < SimpleDelegator
        # The peers as they serve +app+. Answers as Peers does.
        class All
          def initialize(app, directory)
            @app = app
            @directory = directory
            @peers = {}
          end

          def names = Peers.names

          def find(name)
            @peers[name] ||= Bundled.new(Peers.find(name), @app, "#{@directory}/#{name}")
          end
        end

        # directory: for files of ours.
        def initialize(peer, app, directory)
          super(peer)
          @app = app
          @directory = directory
          @bundles = {}
        end

        def unavailable
          return super if super

          bundle(nil)
          nil
        rescue Failure => error
          error.message
        end

        # Debian's programs have gems of their own, and leave those of the app's bundle to the processes that run it.
        def environment(setup)
          bundle = bundle(setup.ruby).environment
          package ? super.merge(bundle.slice("BUNDLE_GEMFILE")) : super.merge(bundle)
        end

        def version
          gems ? bundle(nil).version : super
        end

        private

        # Asked for once; so is why there is none.
        def bundle(ruby)
          found = @bundles[ruby] ||= begin
            Bundle.new(@app, __getobj__, @directory, ruby: ruby)
          rescue Failure => error
            error
          end
          found.is_a?(Failure) ? raise(found) : found
        end
      end
    end
  end
end

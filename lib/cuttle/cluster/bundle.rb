# frozen_string_literal: true

module Cuttle
  class Cluster
    # The bundle that this program was started in, with `bundle exec`.
    module Bundle
      class << self
        # Sets up the bundle from the present Gemfile and Gemfile.lock, in a mould that has loaded nothing of the app.
        # Gems that are already loaded, such as our own and rack, keep their versions. Does nothing outside of a bundle.
        # Raises Error if the bundle has other versions of those, or lacks gems.
        def renew
          return unless defined?(::Bundler) && ENV["BUNDLE_GEMFILE"]

          forget_unused
          ::Bundler.reset!
          ::Bundler.setup
        rescue ::Bundler::BundlerError, ::Gem::LoadError => error
          raise Error, "the bundle can't be loaded in a phased restart: #{Error.line(error)}; try USR2"
        end

        private

        def forget_unused
          ::Gem.loaded_specs.reject { |_, gem| in_memory?(gem) }.each do |name, gem|
            gem.full_require_paths.each { |path| $LOAD_PATH.delete(path) }
            ::Gem.loaded_specs.delete(name)
          end
        end

        def in_memory?(gem)
          directories = gem.full_require_paths.map { |path| "#{path}/" }
          gem.default_gem? || $LOADED_FEATURES.any? { |file| file.start_with?(*directories) }
        end
      end
    end
  end
end

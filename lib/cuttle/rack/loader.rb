# frozen_string_literal: true

module Cuttle
  module Rack
    # Loads the PATH of `cuttle serve PATH`.
    module Loader
      # The app for a directory of files. The files are served before this app is called.
      NOT_FOUND = ->(_env) { [404, { "content-type" => "text/plain" }, ["Not Found\n"]] }

      class << self
        # Whether #load finds something to load. Raises Error if not.
        def check(path)
          return directory(path) if path && File.directory?(path)

          file = File.expand_path(path || "config.ru")
          raise Error, missing(path) unless File.file?(file)
        end

        # Returns a Rack app. +path+ is a rackup file or a directory; nil means ./config.ru. Raises Error.
        def load(path)
          check(path) || build(File.expand_path(path || "config.ru"))
        end

        private

        # A user who names an app's directory wants to serve the app. Its sources and secrets must not be served as
        # files.
        def directory(path)
          return NOT_FOUND unless File.exist?(File.join(path, "config.ru"))

          raise Error, "#{path} holds a config.ru: give #{File.join(path, "config.ru")} to serve the app"
        end

        def missing(path)
          return "no file #{path}" if path

          "no config.ru here: give a rackup file, or a directory of files to serve"
        end

        # Rack 2 returns the app and the options of the file's first line. Rack 3 returns the app.
        def build(file)
          loaded = RubyFile.evaluating(file) { ::Rack::Builder.parse_file(file) }
          loaded.is_a?(Array) ? loaded.first : loaded
        end
      end
    end
  end
end

# frozen_string_literal: true

require "digest"

module Cuttle
  module Tuner
    # What the measurements of a tune depend on besides the machine: the app's main files, its configuration and the
    # Ruby. If one of them changes, earlier results can't be combined with new ones.
    module Sources
      # Files beside the rackup file. The app's other files are not read, because there may be thousands.
      MAIN = "{Gemfile,Gemfile.lock,*.rb,config/*.{rb,yml},config/environments/production.rb}"
      LOCK = "Gemfile.lock" # Bundler makes it when the app is first loaded
      RUBY = "Ruby"

      module_function

      # Name => digest, for these Options.
      def of(options)
        rackup = Lab::Apps.find(options.app, profile: options.work).rackup
        directory = File.dirname(rackup)
        paths = [rackup, *options.configuration, *Dir.glob(MAIN, base: directory).map { |name| "#{directory}/#{name}" }]
        paths.select { |path| File.file?(path) }
             .to_h { |path| [path.delete_prefix("#{directory}/"), digest(path)] }.merge(RUBY => RUBY_DESCRIPTION)
      end

      # The names of what differs from those digests, or is new, or is missing.
      def changes(before, options)
        now = of(options)
        changed = (before.keys | now.keys).reject { |name| before[name] == now[name] }
        before.key?(LOCK) ? changed : changed - [LOCK]
      end

      # nil if the file can't be read.
      def digest(path)
        Digest::SHA256.file(path).hexdigest
      rescue SystemCallError
        nil
      end
    end
  end
end

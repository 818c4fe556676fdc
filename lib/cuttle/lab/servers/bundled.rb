# frozen_string_literal: true

require "delegate"
require "fileutils"
require "json"
require "open3"
require "rbconfig"

module Cuttle
  module Lab
    module Servers
      # A peer that serves an app with the app's own bundle. The process has the gems of both (see Bundle). If their
      # gems can't be combined, the peer is unavailable.
      class Bundled < SimpleDelegator
        # The peers as they serve +app+. It has the methods of Peers.
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

        # directory: for files that the lab creates.
        def initialize(peer, app, directory)
          super(peer)
          @app = app
          @directory = directory
          @bundles = {}
        end

        def unavailable
          return super if super
          return "#{name} can't serve an app that has its own bundle" unless bundled?

          bundle(nil)
          nil
        rescue Failure => error
          error.message
        end

        # Debian's programs have their own gems. They pass the app's bundle to the processes that run the app.
        def environment(setup)
          bundle = bundle(setup.ruby).environment
          package ? super.merge(bundle.slice("BUNDLE_GEMFILE")) : super.merge(bundle)
        end

        def version
          gems ? bundle(nil).version : super
        end

        private

        # The bundle for that Ruby, or the Failure to make one. Each is made once.
        def bundle(ruby)
          found = @bundles[ruby] ||= begin
            Bundle.new(@app, __getobj__, @directory, ruby: ruby)
          rescue Failure => error
            error
          end
          found.is_a?(Failure) ? raise(found) : found
        end

        # An app's bundle with a server in it, as if the server were in the app's Gemfile. The app's files stay
        # unchanged. The lab's own Gemfile evaluates the app's, adds the server's gems that the app's does not name, and
        # starts from the versions that the app has locked. Bundler resolves it from installed gems and downloads
        # nothing.
        class Bundle
          TELL = 'puts JSON.generate("paths" => Gem.path, "with" => Bundler.settings[:with], ' \
                 '"without" => Bundler.settings[:without])'
          LONGEST_REASON = 400 # characters
          # Parts of Bundler's messages to leave out: the position in its code, the exception's class, and advice for
          # other cases.
          NOISE = /\A\S+:in [`']\S+': | \(Bundler::\w+\)| (Deleting your|Run `bundle install`) .*/

          # app: has a gemfile. peer: if it has no gems, like Cuttle, the app's bundle stays as it is. directory: for
          # files that the lab creates. ruby: path of the Ruby that will run it. Raises Failure with the reason and what
          # to do.
          def initialize(app, peer, directory, ruby: nil)
            @app = app
            @gems = peer.gems.to_a
            @gem_directory = peer.gem_directory if @gems.any?
            @directory = directory
            @ruby = ruby || RbConfig.ruby
            @own = ask
            lock if @gems.any?
          end

          # Variables for a Ruby process that must have exactly these gems.
          def environment
            paths = [*@gem_directory&.path, *@own["paths"]]
            { "BUNDLE_GEMFILE" => @app.gemfile, "BUNDLE_APP_CONFIG" => nil, **(@gems.any? ? ours : {}),
              "GEM_HOME" => @own["paths"].first, "GEM_PATH" => paths.join(File::PATH_SEPARATOR),
              "RUBYOPT" => "-rbundler/setup #{Server::RUBYOPT}".strip }
          end

          # The server's version: the app may lock another version than the lab has installed.
          def version
            File.read("#{gemfile}.lock")[/^    #{Regexp.escape(@gems.first[/[^:]+/])} \((\d[^)-]*)/, 1]
          end

          private

          # Asks Bundler for the directories of the app's gems and for the installed groups.
          def ask
            JSON.parse(run({ "BUNDLE_GEMFILE" => @app.gemfile }, "-rjson", "-rbundler/setup", "-e", TELL).lines.last)
          rescue Failure => error
            raise Failure, "#{@app.gemfile}: #{error.message}; run bundle install there"
          end

          def lock
            write
            run(environment.merge("RUBYOPT" => nil), "-S", "bundle", "lock", "--local")
          rescue Failure => error
            raise Failure, "can't be combined with the bundle of #{@app.name}: #{error.message}; bundle install with " \
                           "gem #{@gems.first[/[^:]+/].inspect} in #{@app.gemfile} may find other versions"
          end

          def write
            FileUtils.mkdir_p(configuration)
            File.write("#{configuration}/config", settings)
            additions = @gems.map { |gem| addition(*gem.split(":")) }
            File.write(gemfile, ["eval_gemfile #{@app.gemfile.inspect}", *additions, ""].join("\n"))
            locked = @app.gemfile.sub(/gems\.rb\z/, "gems.locked").sub(/Gemfile\z/, "Gemfile.lock")
            FileUtils.cp(locked, "#{gemfile}.lock") if File.exist?(locked)
          end

          # A line of the Gemfile for a gem that the app doesn't name. The app's own requirement takes precedence.
          def addition(*gem)
            "gem #{gem.map(&:inspect).join(", ")} unless dependencies.any? { |each| each.name == #{gem.first.inspect} }"
          end

          # The app's groups. Its gem path is left out, because it would hide the server's gems.
          def settings
            groups = { "WITH" => @own["with"], "WITHOUT" => @own["without"] }
                     .transform_values { |names| Array(names).join(":") }
            { "PATH__SYSTEM" => "true", "FROZEN" => "false", "DEPLOYMENT" => "false", **groups }
              .map { |name, value| "BUNDLE_#{name}: #{value.inspect}\n" unless value.empty? }.unshift("---\n").join
          end

          def ours
            { "BUNDLE_GEMFILE" => gemfile, "BUNDLE_APP_CONFIG" => configuration }
          end

          def gemfile
            "#{@directory}/Gemfile"
          end

          def configuration
            "#{@directory}/.bundle"
          end

          # Returns standard output. Raises Failure with Bundler's message, on one line and without its backtrace.
          def run(environment, *command)
            output, errors, status = Open3.capture3({ **Apps.clean, **environment }, @ruby, *command,
                                                    chdir: File.dirname(@app.gemfile))
            return output if status.success?

            lines = (errors.empty? ? output : errors).lines.map(&:strip)
            said = lines.grep_v(/\A(from .*)?\z|: warning: /)
            raise Failure, said.join(" ").gsub(NOISE, "")[0, LONGEST_REASON]
          end
        end
      end
    end
  end
end

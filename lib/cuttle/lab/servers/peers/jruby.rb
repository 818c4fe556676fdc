# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # This Cuttle on JRuby, with the core in Ruby: its threads run in parallel in one process. The lab takes JRuby's
        # jar files from a gem and runs them with the system's Java, as in production.
        class Jruby < Cuttle
          # The modules that jruby's own launcher opens for JRuby (descriptors and processes), because the JVM forbids
          # access to them by default.
          OPENED = %w[java.base/sun.nio.ch java.base/java.io java.base/java.util].freeze

          # The command that runs a Ruby script, with the paths of its jar files and further options of the JVM.
          def self.interpreter(jars, flags = [])
            opened = OPENED.flat_map { |package| ["--add-opens", "#{package}=ALL-UNNAMED"] }
            [Machine.program("java"), *opened, *flags, "-cp", jars.join(":"), "org.jruby.Main"]
          end

          def gems = %w[jruby-jars rack]
          def models = threaded
          def variants = []
          def bundled? = false
          def workers = (0..0)
          def version = gem_directory.version

          # Matches all threads that Ruby code made. The names that Cuttle gives its threads don't reach the system.
          def thread_name = /\ARuby-\d+-Thread-\d+\z/

          def unsuited
            "there is no java: the Debian package default-jre-headless has it" unless Machine.program("java")
          end

          # RUBYOPT may contain options that only MRI has, such as --yjit.
          def environment(_setup)
            gem_directory.environment.merge("RUBYOPT" => nil)
          end

          private

          # The jar files contain the program and its standard library.
          def interpreter(_setup)
            self.class.interpreter(Dir["#{gem_directory.path}/gems/jruby-jars-*/lib/*.jar"])
          end

          # The JVM has further threads of its own. The system cuts names after 15 octets, so threads 1 and 10 have the
          # same name.
          def named_threads(server)
            found = server.tree.threads.values.flatten.grep(thread_name).length
            Proof.at_least("threads", server.setup.threads, found, "at least: native threads that Ruby made")
          end
        end
      end
    end
  end
end

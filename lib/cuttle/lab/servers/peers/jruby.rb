# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # This Cuttle on JRuby, with the core in Ruby: threads of one process that run in parallel. JRuby comes as the
        # jar files of a gem, and the system's Java runs them, as it would run them in production.
        class Jruby < Cuttle
          # What jruby's own launcher opens, which the JVM keeps from JRuby otherwise: descriptors and processes.
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

          # Of all threads that Ruby made. Its name of a thread of ours doesn't reach the system.
          def thread_name = /\ARuby-\d+-Thread-\d+\z/

          def unsuited
            "there is no java: the Debian package default-jre-headless has it" unless Machine.program("java")
          end

          # RUBYOPT may have options of MRI alone, such as --yjit.
          def environment(_setup)
            gem_directory.environment.merge("RUBYOPT" => nil)
          end

          private

          # The jar files are the program and its standard library.
          def interpreter(_setup)
            self.class.interpreter(Dir["#{gem_directory.path}/gems/jruby-jars-*/lib/*.jar"])
          end

          # The process has threads for its own purposes too. The system cuts names after 15 octets, so that those of
          # threads 1 and 10 are the same.
          def named_threads(server)
            found = server.tree.threads.values.flatten.grep(thread_name).length
            Proof.at_least("threads", server.setup.threads, found, "at least: native threads that Ruby made")
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

require "fileutils"
require "shellwords"
require_relative "clone"

# JRuby for tests: the jar files of a gem (gemfiles/jruby.gemfile, which bin/setup installs), run by the system's Java.
module JRuby
  GEMFILE = "#{Clone::ROOT}/gemfiles/jruby.gemfile"

  # What jruby's own launcher opens, which the JVM keeps from JRuby otherwise: descriptors and processes.
  OPENED = %w[java.base/sun.nio.ch java.base/java.io java.base/java.util].freeze

  # A test's JVM lives for seconds: it compiles quickly rather than well.
  FLAGS = %w[-XX:+UseSerialGC -XX:TieredStopAtLevel=1].freeze

  class << self
    # What is missing, nil where JRuby can run.
    def missing
      if !system("java", "-version", out: File::NULL, err: File::NULL) then "there is no java (default-jre-headless)"
      elsif jars.empty? then "the gem jruby-jars is not installed (bin/setup)"
      end
    end

    # The command that runs a Ruby script.
    def command(flags = FLAGS)
      [*java(flags), "-cp", jars.join(":"), "org.jruby.Main"]
    end

    # The same with an archive of JRuby's loaded classes, which saves each start a third of its time.
    def quick_command
      archive = "#{Clone::ROOT}/tmp/jruby/#{File.basename(jars.first, ".jar")}.jsa"
      unless File.exist?(archive)
        FileUtils.mkdir_p(File.dirname(archive))
        system(*command([*FLAGS, "-XX:ArchiveClassesAtExit=#{archive}"]), "-I#{Clone::ROOT}/lib", "-e", TYPICAL,
               out: File::NULL, err: File::NULL)
      end
      command([*FLAGS, "-XX:SharedArchiveFile=#{archive}", "-Xlog:disable", "-Xlog:all=error:stderr"])
    end

    private

    # Loads what a server loads.
    TYPICAL = 'require "cuttle"; require "socket"; Cuttle::Settings; Cuttle::Cores::Pure; Cuttle::Listeners.open([])'
    private_constant :TYPICAL

    def java(flags)
      ["java", *OPENED.flat_map { |package| ["--add-opens", "#{package}=ALL-UNNAMED"] }, *flags]
    end

    # JRuby's two jar files: the program, and its standard library.
    def jars
      @jars ||= Clone.outside do
        environment = { "BUNDLE_GEMFILE" => GEMFILE }
        directory = IO.popen(environment, %w[bundle show jruby-jars], err: File::NULL, &:read).lines.last.to_s.strip
        Dir["#{directory}/lib/*.jar"] if File.directory?(directory)
      end.to_a.sort
    end
  end
end

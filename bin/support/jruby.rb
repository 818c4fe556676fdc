# frozen_string_literal: true

require "fileutils"
require "shellwords"
require_relative "clone"
require_relative "../../lib/cuttle"

# JRuby for tests: the jar files of a gem (gemfiles/jruby.gemfile), run by the system's Java, which bin/setup installs.
module JRuby
  GEMFILE = "#{Clone::ROOT}/gemfiles/jruby.gemfile"

  # A test's JVM lives for seconds: it compiles quickly rather than well.
  FLAGS = %w[-XX:+UseSerialGC -XX:TieredStopAtLevel=1].freeze

  class << self
    # What is missing, nil where JRuby can run. Installs the gem if it may.
    def missing
      if !system("java", "-version", out: File::NULL, err: File::NULL)
        "there is no java (bin/setup, or the Debian package default-jre-headless)"
      elsif !Clone.bundle(GEMFILE) || jars.empty?
        "the gem jruby-jars is not installed (bin/setup)"
      end
    end

    # The command that runs a Ruby script.
    def command(flags = FLAGS)
      Cuttle::Lab::Servers::Peers::Jruby.interpreter(jars, flags)
    end

    # The same with an archive of JRuby's loaded classes, which saves each start a third of its time.
    def quick_command
      archive = "#{Clone::ROOT}/tmp/jruby/#{File.basename(jars.first, ".jar")}.jsa"
      write(archive) unless File.exist?(archive)
      command([*FLAGS, "-XX:SharedArchiveFile=#{archive}", "-Xlog:disable", "-Xlog:all=error:stderr"])
    end

    private

    # By a rename: what an interrupt leaves is not taken for an archive. Without one, JRuby is only slower.
    def write(archive)
      FileUtils.mkdir_p(File.dirname(archive))
      environment = { "RUBYOPT" => nil, "RUBYLIB" => nil }
      system(environment, *command([*FLAGS, "-XX:ArchiveClassesAtExit=#{archive}.new"]), "-I#{Clone::ROOT}/lib",
             "-e", TYPICAL, out: File::NULL, err: File::NULL)
      File.rename("#{archive}.new", archive) if File.exist?("#{archive}.new")
    end

    # Loads what a server loads.
    TYPICAL = 'require "cuttle"; require "socket"; Cuttle::Settings; Cuttle::Cores::Pure; Cuttle::Listeners.open([])'
    private_constant :TYPICAL

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

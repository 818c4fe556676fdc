# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "tmpdir"

# A directory for a server's temporary files, on a disk that does what a test says (disk/disk.c): #hold, #fail, #obey.
class Disk
  SOURCE = File.expand_path("disk/disk.c", __dir__)
  LOCK = Mutex.new

  class << self
    # The preloaded library, compiled once; nil where there is no Linux or no compiler.
    def library
      LOCK.synchronize { @library ||= compile }
    end

    def possible? = !library.nil?

    private

    def compile
      return unless RUBY_PLATFORM.include?("linux")

      directory = Dir.mktmpdir("cuttle-disk")
      Minitest.after_run { FileUtils.remove_entry(directory) }
      path = "#{directory}/disk.so"
      path if system(RbConfig::CONFIG["CC"].split.first, "-shared", "-fPIC", "-O1", "-o", path, SOURCE, "-ldl")
    end
  end

  attr_reader :path

  def initialize
    @home = File.realpath(Dir.mktmpdir("cuttle-spool"))
    @path = "#{@home}/spool"
    Dir.mkdir(@path)
  end

  # What a server's environment needs.
  def env
    { "CUTTLE_DISK" => @path, "LD_PRELOAD" => [ENV["LD_PRELOAD"], Disk.library].compact.join(" ") }
  end

  # Writes wait until another word is said.
  def hold = say("hold")

  # Writes fail: "full" or "broken".
  def fail(how) = say(how)

  # "short" writes, or "unnamed" files that are not to be had.
  def mode=(word)
    say(word)
  end

  def obey = FileUtils.rm_f("#{@path}.mode")

  # The sizes of the temporary files that a process has open.
  def open_files(pid)
    Dir.glob("/proc/#{pid}/fd/*").filter_map do |link|
      File.stat(link).size if File.readlink(link).start_with?("#{@path}/")
    rescue Errno::ENOENT
      nil # just closed
    end
  end

  # Its entries with names: there are none for longer than a moment.
  def names = Dir.children(@path)

  def remove = FileUtils.remove_entry(@home)

  private

  def say(word)
    File.write("#{@path}.new", word)
    File.rename("#{@path}.new", "#{@path}.mode")
  end
end

# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "preload"

# A directory for a server's temporary files, on a disk that the test controls (disk/disk.c): #hold, #fail, #obey.
class Disk
  SOURCE = File.expand_path("disk/disk.c", __dir__)

  # False without Linux or a compiler.
  def self.possible? = !Preload.library(SOURCE).nil?

  attr_reader :path

  def initialize
    @home = File.realpath(Dir.mktmpdir("cuttle-spool"))
    @path = "#{@home}/spool"
    Dir.mkdir(@path)
  end

  # Variables for a server's environment, and those of them that the process that forks it needs.
  def env = { "CUTTLE_DISK" => @path, **preloaded }
  def preloaded = Preload.env(SOURCE)

  # Writes wait until the next instruction.
  def hold = say("hold")

  # Writes fail: "full" or "broken".
  def fail(how) = say(how)

  # "short": short writes. "unnamed": files without a name are not available.
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

  # Its entries with names: they exist only for a moment.
  def names = Dir.children(@path)

  def remove = FileUtils.remove_entry(@home)

  private

  def say(word)
    File.write("#{@path}.new", word)
    File.rename("#{@path}.new", "#{@path}.mode")
  end
end

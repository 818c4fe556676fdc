# frozen_string_literal: true

require "cuttle"
require "fileutils"
require "socket"
require "tmpdir"

module Fuzz
  # A directory of files to ask for, with links, dot files, names that look encoded, a FIFO, a socket and files that
  # can't be read, and secrets beside it. A file's content is its own path. One for the process, removed at its end.
  class DocumentTree
    SECRET = "what lies outside the root"

    FILES = ["a/b.html", "a/index.html", "a b", "\xC3\xA4".b, "\xFF".b, "d/index.html", "d/.hidden", ".git/config",
             ".env", "%2e%2e/x", "%2e", "a%00", "deep/er/and/deeper/file", "deep/er/file", "n" * 200, "index.html",
             "page.css", "page.css.gz", "..a/x", "d/a..b", "old.css", "a'\";&b", "\n", "private",
             "etc/passwd", "c++/x", "é/ü".b].freeze
    LINKS = { "in" => "a", "in.html" => "a/b.html", "out" => "..", "up" => "../secret", "climb" => "../beside",
              "back" => "../root", "loop" => "loop", "loop1" => "loop2", "loop2" => "loop1", "dangling" => "nothing",
              "d/parent" => "..", "d/out" => "../../secret", "dot" => ".git", "dots" => "a/../.git/config",
              "deep/here" => ".", "deep/around" => "../deep/er/./../er/file", "a.gz" => "../secret" }.freeze

    # sites: ways to open the same files; final: one behind which nothing stands
    attr_reader :sites, :final

    def self.instance
      @instance ||= new
    end

    def initialize
      @outside = File.realpath(Dir.mktmpdir("cuttle-fuzz"))
      @root = "#{@outside}/root"
      owner = Process.pid
      at_exit { FileUtils.rm_rf(@outside) if Process.pid == owner }
      make_files
      make_links
      @sites = [true, false].map { |portable| site(portable: portable) }
      @final = site(final: true)
    end

    # Whether the file of that name, links resolved, lies beneath the root, and the name says nothing of links outside.
    def inside?(name)
      File.realpath("#{@root}/#{name}".b).b.start_with?("#{@root}/".b)
    rescue SystemCallError
      false
    end

    def content(name)
      File.binread("#{@root}/#{name}".b)
    end

    # Whether +name+ ("/a/b", decoded; nil: none) is of a file that must be served: no link on the way, no dot in front.
    def plain?(name)
      return false if name.nil? || name.bytesize > 1024 || name.match?(/[\0\\]/n) || !name.start_with?("/")

      parts = name[1..].split("/", -1)
      return false if parts.empty? || parts.any? { |part| part.empty? || part.start_with?(".") }

      FILES.include?(parts.join("/")) && name != "/private"
    end

    private

    def site(**options)
      Cuttle::Static.new(@root, content_types: { ".html" => "text/html", ".css" => "text/css" }.method(:[]), **options)
    end

    def make_files
      FileUtils.mkdir_p(["#{@root}/empty", "#{@outside}/beside"])
      ["secret", "beside/secret", "beside/index.html"].each { |name| File.write("#{@outside}/#{name}", SECRET) }
      FILES.each do |name|
        path = "#{@root}/#{name}".b
        FileUtils.mkdir_p(File.dirname(path))
        File.binwrite(path, "beneath: #{name}")
      end
      File.chmod(0, "#{@root}/private") # root may read it all the same
    end

    def make_links
      LINKS.each { |name, target| File.symlink(target, "#{@root}/#{name}") }
      File.symlink("#{@root}/a", "#{@root}/absolute")
      File.symlink("/etc/passwd", "#{@root}/passwd")
      File.mkfifo("#{@root}/fifo")
      UNIXServer.new("#{@root}/socket").close
    end
  end
end

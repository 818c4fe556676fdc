# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# A directory of files for a test, and a secret file beside it that no path may reach.
module DocumentRoot
  SECRET = "what lies outside the root"
  OLD = Time.utc(2020, 1, 2, 3, 4, 5)

  def setup
    super
    @outside = File.realpath(Dir.mktmpdir("cuttle"))
    @root = "#{@outside}/root"
    Dir.mkdir(@root)
    File.write("#{@outside}/secret", SECRET)
  end

  def teardown
    FileUtils.remove_entry(@outside)
    super
  end

  # A file last modified at +modified+; returns its path.
  def put(name, content = name, modified: OLD)
    path = "#{@root}/#{name}"
    FileUtils.mkdir_p(File.dirname(path))
    File.binwrite(path, content)
    File.utime(modified, modified, path)
    path
  end

  def link(target, name)
    FileUtils.mkdir_p(File.dirname("#{@root}/#{name}"))
    File.symlink(target, "#{@root}/#{name}")
  end
end

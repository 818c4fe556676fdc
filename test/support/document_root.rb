# frozen_string_literal: true

require_relative "temporary_directory"

# A directory of files for a test, and a secret file beside it that no path may reach.
module DocumentRoot
  include TemporaryDirectory

  SECRET = "what lies outside the root"
  OLD = Time.utc(2020, 1, 2, 3, 4, 5)

  def setup
    super
    @root = "#{@directory}/root"
    Dir.mkdir(@root)
    File.write("#{@directory}/secret", SECRET)
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

# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# A directory for each test, @directory: made before its setup, and removed after its teardown.
module TemporaryDirectory
  def before_setup
    super
    @directory = File.realpath(Dir.mktmpdir("cuttle"))
  end

  def after_teardown
    FileUtils.remove_entry(@directory)
    super
  end
end

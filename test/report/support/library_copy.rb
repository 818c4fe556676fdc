# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

# A copy of lib/ with one more file, to see that a file alone is enough.
module LibraryCopy
  LIB = File.expand_path("../../../lib", __dir__)

  # Adds +source+ at +path+ and runs +script+ in a Ruby of its own, with the tests' directory in the load path. Returns
  # what the script prints.
  def with_file(path, source, script)
    Dir.mktmpdir("cuttle-lib") do |directory|
      system("cp", "-Rp", LIB, directory, exception: true) # takes much less processor time than FileUtils does
      File.write("#{directory}/lib/#{path}", source)
      command = [RbConfig.ruby, "--disable=gems", "-I#{directory}/lib", "-I#{LIB}/../test", "-rcuttle", "-e", script]
      out, status = Open3.capture2e(*command)
      assert status.success?, out
      out
    end
  end
end

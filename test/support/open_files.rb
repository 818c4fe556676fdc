# frozen_string_literal: true

# The files that this process has open (Linux).
module OpenFiles
  module_function

  # The number of descriptors for the file with that path.
  def count(path)
    Dir.children("/proc/self/fd").count do |number|
      File.readlink("/proc/self/fd/#{number}") == path
    rescue Errno::ENOENT
      false # the descriptor of the listing itself, or one that was closed meanwhile
    end
  end
end

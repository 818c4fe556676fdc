# frozen_string_literal: true

# Which files this process has open (Linux).
module OpenFiles
  module_function

  # How many descriptors are of the file of that path.
  def count(path)
    Dir.children("/proc/self/fd").count do |number|
      File.readlink("/proc/self/fd/#{number}") == path
    rescue Errno::ENOENT
      false # that of the list itself, or one that was closed meanwhile
    end
  end
end

# frozen_string_literal: true

require "fileutils"

# Lines that one request adds and others follow, as `tail -f` would. They are kept in a file, so that a follower in one
# worker sees what was added in another.
class Feed
  LAST_LINE = "bye\n"
  LONGEST_SILENCE = 30 # seconds; a follower whom nobody has told anything for that long goes home
  LOOK_AGAIN = 0.02 # seconds

  def initialize(path)
    @path = path
    FileUtils.mkdir_p(File.dirname(path))
    FileUtils.touch(path)
  end

  def add(line)
    File.write(@path, "#{line.delete("\r\n")}\n", mode: "a")
  end

  # Yields a greeting, and then each line that is added from then on, until "bye".
  def follow
    File.open(@path) do |file|
      file.seek(0, IO::SEEK_END)
      yield "following\n"
      while (line = next_line(file))
        yield line
        break if line == LAST_LINE
      end
    end
  end

  private

  def next_line(file)
    patience = (LONGEST_SILENCE / LOOK_AGAIN).to_i
    patience.times do
      line = file.gets and return line
      sleep LOOK_AGAIN
    end
    nil
  end
end

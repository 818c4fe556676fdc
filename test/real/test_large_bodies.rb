# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require "zlib"
require_relative "real"

# 256 MB, more than a server may take: pieces to send or to expect, and a file.
module Large
  PIECE = 1 << 20
  PIECES = 256
  SIZE = PIECE * PIECES

  # One piece again and again; Net::HTTP reads it as it would a file.
  class Stream
    def initialize(piece)
      @piece = piece
      @sent = 0
    end

    def read(length, buffer = +"")
      return if @sent == SIZE

      buffer.replace(@piece.byteslice(@sent % PIECE, length))
      @sent += buffer.bytesize
      buffer
    end
  end

  # A directory with a file in it that takes no room on the disk, but for a mark at its end.
  def self.directory
    @directory ||= Dir.mktmpdir("large").tap do |directory|
      Minitest.after_run { FileUtils.rm_rf(directory) }
      File.open("#{directory}/file", "wb") do |file|
        file.truncate(SIZE)
        file.seek(-8, IO::SEEK_END)
        file.write("the end.")
      end
    end
  end

  def self.crc_of_file
    @crc_of_file ||= File.open("#{directory}/file", "rb") { |file| crc { file.read(PIECE) } }
  end

  def self.crc_of(piece)
    left = PIECES
    crc { piece if (left -= 1) >= 0 }
  end

  def self.crc
    crc = 0
    while (piece = yield)
      crc = Zlib.crc32(piece, crc)
    end
    crc
  end
end

# 256 MB in and 256 MB out, on every engine, and the server's memory stays what a few megabytes would take.
module LargeBodyChecks
  LARGEST_PROCESS = 100 << 20

  # One at a time, in whichever process: a disk with room for one body may not have it for those of all engines.
  def setup
    super
    @turn = File.open(__FILE__).tap { |file| file.flock(File::LOCK_EX) }
  end

  def teardown
    @turn&.close
    super
  end

  def test_an_upload
    piece = Random.new(2).bytes(Large::PIECE)
    post = Net::HTTP::Post.new("/sum", "content-type" => "application/octet-stream")
    post.content_length = Large::SIZE
    post.body_stream = Large::Stream.new(piece)
    assert_equal "#{Large::SIZE} #{Large.crc_of(piece)}", request(post).body
    assert_bounded_memory
  end

  def test_a_download_in_pieces
    assert_equal [Large::SIZE, Large.crc_of(Random.new(1).bytes(Large::PIECE))], download("/pieces")
    assert_bounded_memory
  end

  def test_a_download_of_a_file
    assert_equal [Large::SIZE, Large.crc_of_file], download("/files/file")
    assert_bounded_memory
  end

  private

  def download(path)
    length = crc = 0
    request(Net::HTTP::Get.new(path)) do |response|
      response.read_body do |piece|
        length += piece.bytesize
        crc = Zlib.crc32(piece, crc)
      end
    end
    [length, crc]
  end

  def assert_bounded_memory
    assert_operator server.peak_memory, :<, LARGEST_PROCESS
  end
end

class LargeBodiesTest < Real::ServedTest
  def self.environment
    { "FILES" => Large.directory, "PIECES" => Large::PIECES.to_s }
  end

  for_each Real::ALONE, Real::BODIES, LargeBodyChecks
end

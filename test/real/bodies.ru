# frozen_string_literal: true

# Bodies of any size, in and out, without ever having more than one piece of them in memory:
#   POST /sum     answers with the length and the CRC-32 of what was sent
#   GET /pieces   PIECES (1024) pieces of 1 MiB, by each
#   GET /files/X  the file X of the directory FILES, which a server may send by itself (to_path)

require "rack/files"
require "zlib"

PIECE = 1 << 20

sum = lambda do |env|
  length = 0
  crc = 0
  piece = String.new(capacity: PIECE)
  while env["rack.input"]&.read(PIECE, piece)
    length += piece.bytesize
    crc = Zlib.crc32(piece, crc)
  end
  [200, { "content-type" => "text/plain" }, ["#{length} #{crc}"]]
end

pieces = Class.new do
  def each
    piece = Random.new(1).bytes(PIECE).freeze
    Integer(ENV.fetch("PIECES", 1024)).times { yield piece }
  end
end

map("/sum") { run sum }
map("/pieces") { run(->(_env) { [200, { "content-type" => "application/octet-stream" }, pieces.new] }) }
map("/files") { run Rack::Files.new(ENV.fetch("FILES", "/nonexistent")) }

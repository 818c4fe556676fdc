# frozen_string_literal: true

# A response of each kind, by path: what the server sends in one piece, in many, from a file, and to a socket that the
# app has taken over in part.
require "tmpdir"

LARGE = Random.new(1).bytes(150_000).freeze
FILE = "#{Dir.mktmpdir("cuttle")}/large".freeze
File.binwrite(FILE, LARGE)
at_exit { File.delete(FILE) && Dir.rmdir(File.dirname(FILE)) if File.exist?(FILE) }

# A body that the server sends from its file.
class Stored
  def to_path = FILE
  def each = yield(LARGE)
end

run lambda { |env|
  case env["PATH_INFO"]
  when "/large" then [200, {}, [LARGE]]
  when "/parts" then [200, {}, LARGE.scan(/.{1,1000}/mn)]
  when "/stream" then [200, {}, LARGE.scan(/.{1,5000}/mn).each]
  when "/file" then [200, { "content-length" => LARGE.bytesize.to_s }, Stored.new]
  when "/echo" then [200, {}, [env["rack.input"].read]]
  when "/hints"
    env["rack.early_hints"]&.call("link" => "</a.css>")
    [200, {}, ["hinted"]]
  else [200, {}, ["hello"]]
  end
}

# frozen_string_literal: true

require "digest/sha2" # "digest" alone loads it at its first use, and fails where threads do so at once
require_relative "support/spool_octets"

# Large bodies in both directions: of n octets, SpoolOctets.of(n).
class SpoolApp
  PLAIN = { "content-type" => "text/plain" }.freeze
  PIECE = 20_000

  def initialize
    @streamed = 0
  end

  def call(env)
    answer = public_send(env["PATH_INFO"].delete_prefix("/"), env["QUERY_STRING"].to_i, env)
    answer.is_a?(Array) ? answer : [200, PLAIN.dup, [answer.to_s]]
  end

  def hello(*) = "hello"

  # The octets that all streams have handed over so far.
  def streamed(*) = @streamed

  def digest(_, env)
    digest = Digest::SHA256.new
    size = 0
    while (part = env["rack.input"].read(65_536))
      size += part.bytesize
      digest << part
    end
    "#{size} #{digest.hexdigest}"
  end

  def large(size, _) = [200, PLAIN.dup, [SpoolOctets.of(size)]]

  def stream(size, _)
    [200, PLAIN.dup, Enumerator.new do |parts|
      @streaming = Thread.current
      0.step(size - 1, PIECE) do |at|
        parts << SpoolOctets.piece(size, at, [PIECE, size - at].min)
        @streamed += PIECE
      end
    end]
  end

  # Interrupts the wait of the thread that streams, as a signal does.
  def wake(*) = @streaming.wakeup && "woken"

  # A child that stays until the test ends it.
  def fork(*)
    Process.fork { loop { Process.kill("STOP", Process.pid) } }
  end
end

run SpoolApp.new

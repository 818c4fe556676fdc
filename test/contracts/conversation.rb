# frozen_string_literal: true

# What a parser makes of the octets of one connection, given in pieces as a network may cut them: the heads, the bodies
# that became complete, and the end (:more, or the status of a ParseError).
class Conversation
  attr_reader :heads, :bodies, :ending

  # +octets+, cut after each offset in +cuts+.
  def self.cut(parser, octets, cuts = [])
    bounds = [0, *cuts, octets.bytesize]
    new(parser).hold(bounds.each_cons(2).map { |from, to| octets.byteslice(from, to - from) })
  end

  # Octet by octet; between so many at both +ends+, in pieces.
  def self.bytewise(parser, octets, ends: octets.bytesize)
    inner = [*ends.step(octets.bytesize - ends, 97)]
    cut(parser, octets,
        [*1...[ends, octets.bytesize].min, *inner, *[octets.bytesize - ends, 1].max...octets.bytesize].uniq.sort)
  end

  def initialize(parser)
    @parser = parser.new
    @heads = []
    @bodies = []
    @buffer = "".b
    @ending = :more
  end

  def hold(pieces)
    pieces.each do |piece|
      @buffer << piece
      nil while advance
    end
    self
  rescue Cuttle::Http::ParseError => error
    @ending = error.status
    self
  end

  # Everything that tests may compare.
  def to_a
    [@heads.map(&:to_a), @bodies, @ending]
  end

  private

  def advance
    return body if @body

    head = @parser.head(@buffer) or return
    raise "a head of #{head.bytesize} octets" unless head.bytesize.between?(1, @buffer.bytesize)

    @buffer = @buffer.byteslice(head.bytesize..)
    @heads << head
    @left = head.content_length
    @body = "".b
  end

  def body
    @left ? known_length : chunked
  end

  def known_length
    @body << @buffer.slice!(0, [@left - @body.bytesize, @buffer.bytesize].min)
    complete if @body.bytesize == @left
  end

  def chunked
    return if @buffer.empty?

    consumed, data, done = @parser.chunks(@buffer)
    @buffer = @buffer.byteslice(consumed..)
    @body << data
    done ? complete : consumed.positive?
  end

  def complete
    @bodies << @body
    @body = nil
    true
  end
end

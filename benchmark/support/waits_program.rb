# frozen_string_literal: true

# The process of Bench::Answers: `ruby waits_program.rb`. It prints two ports of 127.0.0.1, and exits at the end of its
# standard input. To the first (TCP) it sends back what it receives. At the second (UDP) it answers every question of
# DNS with 192.0.2.1. What comes within a millisecond is answered together, so that answers cost little, and none is
# there before the client waits for it.

require "socket"
require_relative "../../lib/cuttle/lab/network/event_loop"

# Answers that are due.
class Answers
  DELAY = 0.001 # seconds
  LONGEST = 512 # octets

  def initialize(events)
    @events = events
    @due = []
  end

  # Sends back what comes from +socket+, until the client closes it.
  def echo(socket)
    @events.on_read(socket) do
      octets = socket.read_nonblock(LONGEST, exception: false)
      case octets
      when nil then close(socket)
      when String then soon { send_back(socket, octets) }
      end
    rescue SystemCallError
      close(socket)
    end
  end

  # Answers the questions that come to the UDP socket.
  def resolve(socket)
    @events.on_read(socket) do
      loop do
        question, sender = socket.recvfrom_nonblock(LONGEST, exception: false)
        break unless sender

        soon { socket.send(answer(question), 0, *sender.values_at(3, 1)) }
      end
    end
  end

  private

  def soon(&block)
    @events.at(Cuttle::Lab::Network::EventLoop.now + DELAY) { answer_all } if @due.empty?
    @due << block
  end

  def answer_all
    due, @due = @due, []
    due.each(&:call)
  end

  def send_back(socket, octets)
    socket.write(octets) unless socket.closed?
  rescue SystemCallError
    close(socket)
  end

  def close(socket)
    @events.forget(socket)
    socket.close
  end

  # RFC 1035, 4.1: the question's id and the question itself; one address, valid for a minute.
  def answer(question)
    named = question[12..(question.index("\0", 12) + 4)]
    [question[0, 2], [0x8180, 1, 1, 0, 0].pack("n5"), named, [0xC00C, 1, 1, 60, 4, 192, 0, 2, 1].pack("n3NnC4")].join
  end
end

Cuttle::Lab::Network::EventLoop.raise_limit
events = Cuttle::Lab::Network::EventLoop.new
answers = Answers.new(events)

listener = TCPServer.new("127.0.0.1", 0)
listener.listen(1024)
events.on_read(listener) do
  while (socket = listener.accept_nonblock(exception: false)) != :wait_readable
    socket.setsockopt(:TCP, :NODELAY, true)
    answers.echo(socket)
  end
rescue SystemCallError
  nil # the client left before it was accepted
end
resolver = UDPSocket.new
resolver.bind("127.0.0.1", 0)
answers.resolve(resolver)
events.on_read($stdin) { events.stop } # readable means closed: the lab never writes to it

$stdout.puts "ready #{listener.addr[1]} #{resolver.addr[1]}"
$stdout.flush
events.run

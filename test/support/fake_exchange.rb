# frozen_string_literal: true

# An exchange without a socket: a request, and the answer to it. It has the part of Cuttle::Exchange that static files
# need.
class FakeExchange
  attr_reader :request_method, :path, :status, :headers, :body, :sent, :length

  # +fields+: { "range" => "bytes=0-1" }
  def initialize(target, fields = {}, method: "GET")
    @request_method = method
    @path, @query = target.b.split("?", 2)
    @fields = fields
  end

  def header(name)
    @fields[name]
  end

  def head?
    request_method == "HEAD"
  end

  def env
    { "QUERY_STRING" => @query.to_s }
  end

  def respond(status, headers, parts)
    answer(status, headers, parts.join, :strings)
  end

  # +length+ is the promised number of octets. Closes the file, as the connection does.
  def send_file(status, headers, io, offset, length)
    @length = length
    answer(status, headers, io.pread(length, offset), :file)
  ensure
    io.close
  end

  def abort
    @aborted = true
  end

  def aborted?
    @aborted
  end

  def responded?
    !status.nil?
  end

  private

  def answer(status, headers, body, sent)
    raise "answered twice" if responded?

    @status = status
    @headers = headers
    @body = head? ? "" : body
    @sent = sent
  end
end

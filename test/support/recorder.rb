# frozen_string_literal: true

# A Rack app that keeps what it was given and answers with it, so that a test sees both sides of a request. It does not
# read the body of a request for /unread.
class Recorder
  Seen = Struct.new(:env, :body, :error) do
    def [](key) = env[key]

    # The whole body arrived.
    def complete? = !body.nil?
  end

  attr_reader :seen

  def initialize
    @seen = []
  end

  def call(env)
    seen = Seen.new(env)
    @seen << seen
    seen.body = read(env)
    text = "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{seen.body}"
    [200, { "content-type" => "text/plain", "content-length" => text.bytesize.to_s }, [text]]
  rescue StandardError => error
    seen.error = error
    raise
  end

  # The requested targets, in order.
  def paths = @seen.map { |seen| seen["PATH_INFO"] }

  private

  def read(env)
    return "" if env["PATH_INFO"] == "/unread"

    env["rack.input"]&.read || ""
  end
end

# frozen_string_literal: true

require "stringio"

# Adapts a Rack app to a server without Rack support: turns a request's head into an env, and the app's answer into a
# response that closes its connection. It supports only requests without a body, which is enough for a lab.
class Adapter
  ENDING = "\r\n\r\n" # the end of a head
  ENV = { "SCRIPT_NAME" => "", "SERVER_NAME" => "127.0.0.1", "SERVER_PROTOCOL" => "HTTP/1.1",
          "rack.version" => [1, 3], "rack.url_scheme" => "http", "rack.errors" => $stderr,
          "rack.multithread" => false, "rack.multiprocess" => true, "rack.run_once" => false }.freeze

  def initialize(app, port)
    @app = app
    @env = ENV.merge("SERVER_PORT" => port.to_s).freeze
  end

  # [status, headers, text of the body]: the app's answer to a head.
  def answer(head)
    status, headers, body = @app.call(env(head))
    [status, headers, body.to_enum.to_a.join]
  ensure
    body.close if body.respond_to?(:close)
  end

  # The answer as the octets of a response.
  def response(head)
    status, headers, text = answer(head)
    fields = headers.map { |name, value| "#{name}: #{value}\r\n" }.join
    "HTTP/1.1 #{status} \r\n#{fields}Connection: close\r\n\r\n#{text}"
  end

  private

  def env(head)
    request, *fields = head.lines(chomp: true)
    method, target = request.split
    path, query = target.split("?", 2)
    named(fields).merge(@env, "REQUEST_METHOD" => method, "PATH_INFO" => path, "QUERY_STRING" => query.to_s,
                              "rack.input" => StringIO.new("".b))
  end

  def named(fields)
    fields.reject(&:empty?).to_h do |field|
      name, value = field.split(":", 2)
      ["HTTP_#{name.upcase.tr("-", "_")}", value.to_s.strip]
    end
  end
end

# frozen_string_literal: true

# For benchmark/restarts: answers at once, reads what is uploaded, or streams for 50 ms.

lines = Enumerator.new do |body|
  5.times do
    sleep 0.01
    body << "line\n"
  end
end

app = lambda do |env|
  return [200, {}, lines] if env["PATH_INFO"] == "/stream"

  [200, {}, [env["rack.input"]&.read.to_s.bytesize.to_s]]
end

run app

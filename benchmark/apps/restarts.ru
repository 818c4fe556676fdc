# frozen_string_literal: true

# For benchmark/restarts: answers immediately, reads an upload, or streams for 50 ms. Ractors can share the app.
class Restarted
  # The body of a stream.
  class Lines
    def each
      5.times do
        sleep 0.01
        yield "line\n"
      end
    end
  end

  def call(env)
    return [200, {}, Lines.new] if env["PATH_INFO"] == "/stream"

    [200, {}, [env["rack.input"]&.read.to_s.bytesize.to_s]]
  end
end

run Restarted.new

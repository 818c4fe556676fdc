# frozen_string_literal: true

# Every way in which a response can begin, continue and end; the access log has one line for each.
PLAIN = { "content-type" => "text/plain" }.freeze

# A body that runs a Proc.
Each = Struct.new(:run) do
  def each(&part) = run.call(part)
end

ANSWERS = {
  "array" => ->(_) { [200, PLAIN.dup, ["hello"]] },
  "each" => ->(_) { [200, PLAIN.dup, Each.new(->(part) { part.call("hello") })] },
  "stream" => ->(_) { [200, PLAIN.dup, ->(stream) { stream.write("hello") && stream.close }] },
  "later" => lambda do |_|
    [200, PLAIN.dup, ->(stream) { Thread.new { sleep(0.05) && stream.write("h" * 5000) && stream.close } }]
  end,
  "partial" => ->(_) { [200, PLAIN.merge("rack.hijack" => ->(io) { io.write("hello") && io.close }), []] },
  "full" => lambda do |env|
    env["rack.hijack"].call.tap { |io| io.write("HTTP/1.1 200 OK\r\n\r\n") && io.close }
    [-1, {}, []]
  end,
  "raise" => ->(_) { raise NotImplementedError, "on purpose" },
  "cut" => ->(_) { [200, PLAIN.dup, Each.new(->(part) { part.call("hello") && raise("on purpose") })] },
  "changed" => lambda do |env|
    env["REQUEST_METHOD"] = env["PATH_INFO"] = env["REMOTE_USER"] = Object.new
    [200, PLAIN.dup, ["hello"]]
  end,
  "default" => ->(env) { (env.default_proc = ->(*) { raise "on purpose" }) && [200, PLAIN.dup, ["hello"]] },
  "kill" => ->(_) { Thread.current == Thread.main ? raise("on purpose") : Thread.exit }
}.freeze

run ->(env) { ANSWERS.fetch(env["PATH_INFO"].delete_prefix("/")).call(env) }

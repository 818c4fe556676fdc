# frozen_string_literal: true

require "socket"

# An app whose requests keep the GVL, or release it, or don't come back.
#
#   /           answers at once, and keeps the GVL
#   /wait       leaves a file "in", and waits until there is a file "go"
#   /compute    computes until the signal URG, and keeps the GVL unless another thread asks for it
#   /hog?N      computes for N seconds of CPU time in another thread, while the request is answered
#   /kill       ends its thread
#   /fork       answers with the output of a child that is forked in the app
#   /inner/…    asks a second server in this process, with the same app
directory = ENV.fetch("CUTTLE_GATES")
cpu = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) }
inner = nil
lock = Mutex.new

signalled = false
trap("URG") { signalled = true }

compute = lambda do |seconds|
  ends = cpu.call + seconds
  nil until signalled || cpu.call > ends
end

read_child = lambda do
  IO.popen("-") { |child| child ? child.read : print("child") }
end

ask = lambda do |server, path|
  TCPSocket.open("127.0.0.1", server.port) do |socket|
    socket.write("GET #{path} HTTP/1.0\r\n\r\n")
    socket.read.split("\r\n\r\n", 2).last
  end
end

app = lambda do |env|
  seconds = env["QUERY_STRING"].to_f
  answer = "done"
  case env["PATH_INFO"]
  when "/wait"
    File.write("#{directory}/in", "")
    sleep 0.005 until File.exist?("#{directory}/go")
  when "/compute" then compute.call(20) # at most
  when "/hog" then Thread.new { compute.call(seconds) }
  when "/kill" then Thread.current.kill
  when "/fork" then answer = read_child.call
  when %r{\A/inner(/.*)}
    path = Regexp.last_match(1)
    lock.synchronize { inner ||= Cuttle::Server.new(app, threads: 2).start }
    answer = ask.call(inner, path)
  end
  [200, { "content-type" => "text/plain" }, [answer]]
end

run app

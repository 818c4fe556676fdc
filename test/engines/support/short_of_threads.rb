# frozen_string_literal: true

# A server whose system gives no more threads while there is a file "shortage" in the directory ARGV[0]: Thread.new and
# its like raise ThreadError, and write "failed" there. /wait stays in the app until there is a file "go".
# The rest of ARGV: engine and threads.
require "cuttle"
require "fileutils"

module Shortage
  DIRECTORY = ARGV.fetch(0)

  %i[new start fork].each do |name|
    define_method(name) do |*arguments, **options, &block|
      if File.exist?("#{DIRECTORY}/shortage")
        FileUtils.touch("#{DIRECTORY}/failed")
        raise ThreadError, "can't create Thread: Resource temporarily unavailable"
      end
      super(*arguments, **options, &block)
    end
  end
end

app = lambda do |env|
  if env["PATH_INFO"] == "/wait"
    File.write("#{Shortage::DIRECTORY}/in.#{env["QUERY_STRING"]}", "")
    sleep 0.005 until File.exist?("#{Shortage::DIRECTORY}/go")
  end
  [200, { "content-type" => "text/plain" }, ["done"]]
end

$stdout.sync = true
server = Cuttle::Server.new(app, engine: ARGV.fetch(1), threads: ARGV.fetch(2))
trap("TERM") { server.stop_soon }
server.start
sleep 0.005 until ARGV[2] == "0" || server.stats[:threads].positive? # those that the pool begins with
Thread.singleton_class.prepend(Shortage)
puts server.url, "Ctrl-C stops"
server.wait

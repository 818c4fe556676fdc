# frozen_string_literal: true

# A server with --threads auto. ARGV: a directory, and a Hash as JSON:
#
#   most     --max-threads
#   idle     seconds after which a thread ends that has nothing to do
#   pool     the connections of a database pool
#   memory   "none": there is none for another thread; whoever asks leaves a file "looked"
#
# /wait?N stays in the app, and leaves a file in.N there, until there is a file "go". A file "ask" is answered by
# "figures".
require "cuttle"
require "fileutils"
require "json"

DIRECTORY = ARGV.fetch(0)
FACTS = JSON.parse(ARGV.fetch(1))

if (idle = FACTS["idle"])
  Cuttle::Engines::Hybrid.send(:remove_const, :IDLE)
  Cuttle::Engines::Hybrid.const_set(:IDLE, idle)
end

if FACTS["pool"]
  Sequel = Module.new
  Database = Struct.new(:pool)
  Sequel::DATABASES = [Database.new(Struct.new(:max_size).new(FACTS["pool"]))].freeze
end

if FACTS["memory"]
  Cuttle::Memory.define_singleton_method(:room?) do
    FileUtils.touch("#{DIRECTORY}/looked")
    false
  end
end

POLL = 7 # x86-64, Linux

def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

app = lambda do |env|
  case env["PATH_INFO"]
  when "/wait"
    File.write("#{DIRECTORY}/in.#{env["QUERY_STRING"]}", "")
    sleep 0.005 until File.exist?("#{DIRECTORY}/go")
  when "/compute"
    ends = cpu + 0.005
    nil while cpu < ends
  when "/keep" # the GVL, and no core
    syscall(POLL, 0, 0, 5)
  when "/brief" # with three threads, the GVL is free for a tenth of the time
    syscall(POLL, 0, 0, 6)
    sleep 0.014
  when "/moment" # less than the time between two looks
    sleep 0.006
  when "/kill"
    Thread.current.kill
    sleep
  end
  [200, { "content-type" => "text/plain" }, ["done"]]
end

$stdout.sync = true
server = Cuttle::Server.new(app, threads: "auto", drain_grace: 0.5, **{ max_threads: FACTS["most"] }.compact)
trap("TERM") { server.stop_soon }
server.start
figures = Thread.new do
  loop do
    sleep 0.005
    next unless File.exist?("#{DIRECTORY}/ask")

    File.write("#{DIRECTORY}/figures", JSON.generate(Cuttle::Stats.of(server)))
    File.delete("#{DIRECTORY}/ask")
  end
end
sleep 0.005 until server.stats[:threads].positive?
puts server.url, "Ctrl-C stops"
server.wait
figures.kill.join

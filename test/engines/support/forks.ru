# frozen_string_literal: true

require "fileutils"

# Forks in every place that an app has, and each child ends in its own way. /PLACE/WAY is answered with the child's exit
# status and how often its at_exit block ran, once it has ended.
class Forks
  PLAIN = { "content-type" => "text/plain" }.freeze
  DIRECTORY = ENV.fetch("CUTTLE_GATES")

  # Each child leaves a mark for each time that at_exit blocks run in it.
  at_exit { File.open("#{DIRECTORY}/ended.#{Process.pid}", "a") { |file| file.write("x") } }

  def call(env)
    _, place, way = env["PATH_INFO"].split("/")
    return [200, PLAIN.dup, ["hello"]] unless way

    child = nil
    inside(place) { (child = Process.fork) || go(way) }
    told(place, env) { child }
  end

  private

  # Runs the block there: in the app, a fiber of its own, a thread of its own or a callback.
  def inside(place, &block)
    case place
    when "app" then block.call
    when "fiber" then Fiber.new { Fiber.new(&block).resume }.resume
    when "thread" then Thread.new(&block).join
    when "callback", "close" then @block = block
    end
  end

  # The next request (/last/…) returns what a callback or the body's close has forked.
  def told(place, env, &child)
    case place
    when "callback" then (env["rack.response_finished"] ||= []) << ->(*) { @block.call }
    when "close" then return [200, PLAIN.dup, Closed.new(@block)]
    else return [200, PLAIN.dup, [outcome(child.call)]]
    end
    [200, PLAIN.dup, ["later"]]
  end

  Closed = Struct.new(:block) do
    def each = yield("later")
    def close = block.call
  end

  def outcome(child)
    return "child" unless child

    _, status = Process.wait2(child)
    marks = "#{DIRECTORY}/ended.#{child}"
    "#{status.exitstatus.inspect} #{File.exist?(marks) ? File.size(marks) : 0}"
  end

  def go(way)
    case way
    when "return" then nil
    when "exit" then exit(7)
    when "exit!" then exit!(7)
    when "raise" then raise("in the child")
    when "sleep" then sleep(0.05) && exit(7)
    when "wait"
      Thread.new { sleep(0.05) }.join
      Queue.new.tap { |queue| Thread.new { queue << 1 } }.pop
      exit(7)
    when "spawn" then exit(system("sleep 0.05 && exit 7") ? 0 : $?.exitstatus)
    end
  end
end

run Forks.new

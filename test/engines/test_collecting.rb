# frozen_string_literal: true

require "test_helper"

# A major garbage collection that is due comes between two requests.
class TestCollecting < Minitest::Test
  include Serving
  include TemporaryDirectory

  # /hold makes objects old until a major collection is due, waits until it may go on, and answers how many came
  # meanwhile. / makes objects old until a major collection is due, or has come because the heap is full. /last also
  # leaves an old object whose finalizer takes until it may go on. Answers have the number of major collections so far,
  # what caused the last collection before this request, and whether a major one is due.
  APP = <<~RUBY
    Array.new(1_000_000) { Object.new } # leaves free room
    kept, old = [], Object.new
    due = -> { GC.stat(:old_objects) > GC.stat(:old_objects_limit) }
    mark = ->(name) { File.write(name + ".new", Process.pid.to_s) && File.rename(name + ".new", name) }
    wait = proc { mark.call("held").then { nil until File.exist?("go") } }
    run(lambda do |env|
      majors, cause = GC.stat(:major_gc_count), GC.latest_gc_info(:gc_by)
      fresh, aging, holds = [], env["PATH_INFO"] != "/x", env["PATH_INFO"] == "/hold"
      while aging && !due.call && (holds || GC.stat(:major_gc_count) == majors)
        GC.disable
        fresh.concat(Array.new(20_000) { Object.new })
        GC.enable
        GC.start(full_mark: false)
      end
      kept = fresh if aging
      majors = GC.stat(:major_gc_count)
      mark.call("held").then { sleep 0.01 until File.exist?("go") } if holds
      next [200, {}, [(GC.stat(:major_gc_count) - majors).to_s]] if holds
      old = ObjectSpace.define_finalizer(old, wait) && nil if old && env["PATH_INFO"] == "/last" && due.call
      [200, {}, [[Process.pid, GC.stat(:major_gc_count), cause, due.call].join(" ")]]
    end)
  RUBY

  ENGINES = { "hybrid" => %w[-t 2], "reactor" => [], "fibers" => [] }.freeze

  def setup
    super
    File.write("#{@directory}/config.ru", APP)
  end

  # Nothing but an allocation would cause it otherwise.
  def test_it_comes_between_requests
    ENGINES.each do |engine, flags|
      serving_process("config.ru", "--engine", engine, *flags, chdir: @directory) do |process|
        client = RawClient.open(process)
        majors = due(client, "/")
        eventually("a collection") { ask(client, "/x")[1].to_i > majors }
        assert_includes %w[capi method], ask(client, "/x")[2], engine
        client.close # so that the server ends at once
      end
    end
  end

  # Each worker gets a place of its own in the scoreboard, and leaves it when it ends.
  def test_it_comes_between_requests_of_the_only_worker_after_another_one
    serving_process("config.ru", "-w", "1", "-t", "1", chdir: @directory, forked: true) do |process|
      Process.kill("USR1", process.pid)
      eventually("the restart") { process.err.include?("phased restart: done") }
      client = RawClient.open(process)
      majors = due(client, "/")
      eventually("a collection", within: 10) { ask(client, "/x")[1].to_i > majors }
      client.close
    end
  end

  # It answers in the process of the app.
  def test_the_control_server_does_not_collect_while_the_app_runs
    serving_process("config.ru", "-w", "0", "-t", "1", "--control-url", "unix://#{@directory}/control",
                    chdir: @directory) do |process|
      client = RawClient.open(process).write(get("/hold"))
      eventually("the request") { File.exist?("#{@directory}/held") }
      3.times { assert_includes ask_control, "200 OK" }
      FileUtils.touch("#{@directory}/go")
      assert_equal "0", client.response.body
      client.close
    end
  end

  def test_meanwhile_another_worker_gets_the_requests
    serving_process("config.ru", "-w", "2", "-t", "1", chdir: @directory, forked: true) do |process|
      eventually("both workers") { process.workers.length == 2 }
      first, *others = connections_of_one_worker(process)
      due(first, "/last")
      eventually("the collection") { File.exist?("#{@directory}/held") }
      other = process.workers - [File.read("#{@directory}/held").to_i]
      others.each { |client| client.write(get("/x")) } << RawClient.open(process).write(get("/x"))
      assert_equal(other * 4, others.map { |client| client.response.body.to_i })
      [first, *others].each(&:close)
    ensure
      FileUtils.touch("#{@directory}/go")
    end
  end

  private

  def get(path) = "GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n"

  def ask_control
    UNIXSocket.open("#{@directory}/control") do |socket|
      socket.write("GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      socket.read
    end
  end

  def ask(client, path) = client.write(get(path)).response.body.split

  # Asks until a major collection is due. Returns the number of those so far.
  def due(client, path)
    answer = nil
    eventually("a due collection") { (answer = ask(client, path))[3] == "true" }
    answer[1].to_i
  end

  def connections_of_one_worker(process)
    by_worker = Hash.new { |all, worker| all[worker] = [] }
    until (own = by_worker.values.find { |all| all.length == 4 })
      client = RawClient.open(process)
      by_worker[ask(client, "/x").first] << client
    end
    own
  end
end

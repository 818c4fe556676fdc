# frozen_string_literal: true

require "test_helper"

# What the server asks glibc's malloc for: how many arenas it makes for threads (--malloc-arenas), and free pages back.
class TestMalloc < Minitest::Test
  include Serving

  # Threads that allocate, and stay, so each has an arena if it may. The app says how many arenas there are beside the
  # main one: an arena begins at a multiple of 64 MB (HEAP_MAX_SIZE in glibc, on 64 bits), with a pointer to its struct,
  # which comes next. Another mapping may begin at such a multiple by chance.
  APP = <<~'RUBY'
    HEAP = 64 << 20
    THREADS = 7

    def allocate(done)
      kept = Array.new(100) { "x" * 1000 }
      done << true
      sleep if kept
    end

    def arenas
      starts = File.foreach("/proc/self/maps").filter_map { |line| line[/\A(\h+)-\h+ rw-p 0+ 00:00 0 *$/, 1]&.hex }
      File.open("/proc/self/mem", "rb") do |memory|
        starts.count do |start|
          (start % HEAP).zero? && (memory.pread(8, start).unpack1("Q") - start).between?(1, 256)
        end
      end
    end

    run(lambda do |_env|
      done = Thread::Queue.new
      THREADS.times { Thread.new { allocate(done) } }
      THREADS.times { done.pop }
      [200, {}, [arenas.to_s]]
    end)
  RUBY

  # Says how many kilobytes are resident. After /fill a garbage collection has freed four fifths of 55 MB, in pieces
  # between those in use.
  SPARSE = <<~'RUBY'
    kept = nil
    run(lambda do |env|
      if env["PATH_INFO"] == "/fill"
        kept = Array.new(5000) { |index| "x" * (index.even? ? 2000 : 20_000) }
        kept.map!.with_index { |string, index| string if index.even? }
        GC.start
      end
      [200, {}, [File.read("/proc/self/status")[/^VmRSS:\s*(\d+)/, 1]]]
    end)
  RUBY

  def setup
    skip "malloc isn't glibc's" unless Cuttle::Cores.fetch(Cuttle::Cores.default).limit_arenas(100)
    skip "heaps of other sizes" unless ["x"].pack("p").bytesize == 8 && File.exist?("/proc/self/maps")
  end

  def test_two_unless_somebody_wants_more
    assert_equal 1, arenas
    assert_operator arenas("--malloc-arenas", "none"), :>, 2
    assert_equal 3, arenas("--malloc-arenas", "4")
  end

  def test_the_variable_of_glibc_is_that_of_the_setting
    assert_equal 2, arenas(env: { "MALLOC_ARENA_MAX" => "3" })
    assert_operator arenas(env: { "MALLOC_ARENA_MAX" => "0" }), :>, 2
  end

  def test_a_tunable_of_glibc_is_stronger_than_the_default
    tunable = { "GLIBC_TUNABLES" => "glibc.malloc.arena_max=4" }
    assert_equal 3, arenas(env: tunable)
  end

  def test_workers_have_the_limit_of_their_supervisor
    assert_equal 1, arenas("-w", "1")
  end

  # What was free, but between what is in use, is resident no longer.
  def test_free_pages_go_back_to_the_system
    kept = Array.new(20_000) { |index| "x" * (index.even? ? 2000 : 20_000) }
    kept.map!.with_index { |string, index| string if index.even? }
    GC.start
    before = resident
    assert Cuttle::Malloc.trim
    assert_operator before - resident, :>, 50_000
    refute_empty kept
  end

  # At a sign of life, of which there are three during --worker-timeout.
  def test_a_worker_gives_back_what_was_collected
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", SPARSE)
      serving_process("#{directory}/config.ru", "-w", "1", "--worker-timeout", "3", forked: true) do |process|
        full = Integer(get(process, "/fill").body)
        eventually("pages given back") { full - Integer(get(process).body) > 20_000 }
      end
    end
  end

  def test_no_number
    error = assert_raises(ArgumentError) { Cuttle::Malloc.limit_arenas(0) }
    assert_equal "give at least 1 arena", error.message
  end

  def test_ractors_have_one_each
    settings = ->(**flags) { Cuttle::Settings.build(variables: {}, **flags).malloc_arenas }
    assert_equal 2, settings.call(engine: "fibers")
    assert_nil settings.call(malloc_arenas: "none")
    skip Cuttle::Engines.unavailable("ractors") if Cuttle::Engines.unavailable("ractors")
    assert_equal 5, settings.call(engine: "ractors", ractors: 4)
  end

  private

  # Kilobytes of this process.
  def resident = File.read("/proc/self/status")[/^VmRSS:\s*(\d+)/, 1].to_i

  # Arenas beside the main one, of a server that has many threads.
  def arenas(*args, env: {})
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", APP)
      env = { "MALLOC_ARENA_MAX" => nil, "GLIBC_TUNABLES" => nil }.merge(env)
      serving_process("#{directory}/config.ru", *args, env: env) { |process| Integer(get(process).body) }
    end
  end
end

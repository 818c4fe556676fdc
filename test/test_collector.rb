# frozen_string_literal: true

require "test_helper"

# --oob-gc: major collections between requests.
class TestCollector < Minitest::Test
  include Serving

  Collector = Cuttle::Collector

  # Keeps what it allocates for a while, so that major collections are due, and says whether one was made meanwhile, and
  # how many were made between requests.
  APP = <<~RUBY
    kept = Array.new(50) { [] }
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/child" then Process.wait(fork { exit!(GC.config[:rgengc_allow_full_mark] ? 7 : 8) })
                         next [200, {}, [$?.exitstatus.to_s]]
      when "/settings" then next [200, {}, [GC.config[:rgengc_allow_full_mark].to_s]]
      end
      before = GC.stat(:major_gc_count)
      kept.shift
      kept << Array.new(20_000) { |number| number.to_s * 4 }
      [200, {}, ["\#{GC.stat(:major_gc_count) - before} \#{Cuttle.stats[:oob_gc]}"]]
    end)
  RUBY

  # A collection is always due.
  class Due < Collector
    private

    def due? = true
  end

  # Prints what the test requests.
  class Source
    attr_reader :said

    def initialize = @said = []
    def rest = @said << :rest
    def resume = @said << :resume
  end

  # Grants the turn as often as the test allows.
  class Scoreboard
    attr_accessor :turns

    def take_turn = (@turns -= 1) >= 0
    def end_turn = nil
  end

  def setup
    @reason = Collector.missing
  end

  def test_a_ruby_that_always_chooses_itself
    skip "this Ruby doesn't" unless @reason
    error = assert_raises(Cuttle::UsageError) { Cuttle::Settings.build(variables: {}, oob_gc: true) }
    assert_match(/\A--oob-gc: /, error.message)
  end

  def test_each_model_collects_between_requests
    skip @reason if @reason
    clusters = [%w[-w 2], %w[-w 2 --core pure], %w[-w 2 --engine threads]]
    (clusters + ENGINES.map { |engine| ["-w", "0", "--engine", engine] }).map do |args|
      Thread.new { serve(*args) { |process| assert_between_requests(process, args) } }
    end.each(&:join)
  end

  def test_a_child_of_the_app_leaves_it_to_ruby
    skip @reason if @reason
    serve("-w", "1") do |process|
      assert_equal %w[7 false], [get(process, "/child").body, get(process, "/settings").body]
    end
  end

  # The moment never comes, and the heap grows.
  def test_growth_makes_it_happen_anyway
    skip @reason if @reason
    collecting(busy: 1) do |collector, source|
      kept = []
      eventually("a collection") do
        kept << Array.new(100_000) { |number| number.to_s * 8 }
        collector.count.positive?
      end
      assert_equal %i[rest resume], source.said.uniq unless source.said.empty?
    end
    assert GC.config[:rgengc_allow_full_mark]
  end

  def test_only_in_turn_and_aside_meanwhile
    skip @reason if @reason
    scoreboard = Scoreboard.new.tap { |board| board.turns = 0 }
    collecting(kind: Due, scoreboard: scoreboard) do |collector, source|
      eventually("some looks") { scoreboard.turns < -3 }
      assert_equal [0, false], [collector.count, source.said.include?(:rest)]
      scoreboard.turns = 1
      eventually("a collection") { collector.count == 1 }
      eventually("its end") { source.said.last == :resume }
      assert_includes source.said, :rest
    end
  end

  def test_an_error_leaves_it_to_ruby
    skip @reason if @reason
    _, err = capture_io do
      broken = Due.new(Source.new, nil) { raise IOError, "no stats" }.start
      eventually("Ruby's own way") { GC.config[:rgengc_allow_full_mark] }
      broken.stop
    end
    assert_includes err, "no stats"
  end

  private

  def serve(*args)
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", APP)
      serving_process("#{directory}/config.ru", "--oob-gc", *args) { |process| yield process }
    end
  end

  def assert_between_requests(process, args)
    eventually("collections (#{args})", within: 60) do
      inside, between = get(process).body.split.map(&:to_i)
      assert_equal 0, inside, args
      between > 1
    end
    assert process.stop.success?, process.err
  end

  def collecting(kind: Collector, busy: 0, scoreboard: nil)
    source = Source.new
    collector = kind.new(source, scoreboard) { { busy: busy, ready: 0 } }.start
    yield collector, source
  ensure
    collector&.stop
  end
end

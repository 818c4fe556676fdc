# frozen_string_literal: true

require "test_helper"

# The memory of a process that has loaded the app is prepared, unless somebody doesn't want it.
class TestWarmup < Minitest::Test
  include Serving

  # Ruby makes no collection by itself.
  APP = <<~RUBY
    GC.disable
    before = GC.stat(:major_gc_count)
    run ->(_) { [200, {}, [(GC.stat(:major_gc_count) - before).to_s]] }
  RUBY

  def test_before_the_fork_and_before_the_only_process_serves
    assert_operator collections("-w", "1"), :>, 0
    assert_operator collections("-w", "0", "--warmup"), :>, 0
    assert_operator collections("-w", "0", "-e", "production"), :>, 0
  end

  def test_off
    assert_equal 0, collections("-w", "1", "--no-warmup")
    assert_equal 0, collections("-w", "0"), "in development without workers"
  end

  # What is left counts as old, on each Ruby.
  def test_what_outlives_it_is_old
    skip "ObjectSpace.dump shows no ages here" unless RUBY_ENGINE == "ruby"
    require "objspace"
    object = Object.new
    Cuttle::Warmup.call(Cuttle::Cores.default)
    assert_match(/"old":true/, ObjectSpace.dump(object))
  end

  private

  # Major collections between the end of loading and the first request.
  def collections(*args)
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", APP)
      serving_process("#{directory}/config.ru", *args) { |process| Integer(get(process).body) }
    end
  end
end

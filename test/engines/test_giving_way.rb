# frozen_string_literal: true

require "test_helper"

# When the engine threads has an idle connection give its thread to one that waits.
class TestGivingWay < Minitest::Test
  # Its one connection notes the grace that it is given for its next request, and ends.
  class Source
    attr_reader :graces

    def initialize
      @waiting = [self]
      @graces = []
    end

    def accept = @waiting.shift
    def next_request(grace) = @graces.push(grace) && nil
    def close; end
  end

  # Where a server had just begun, or its machine was busy, the other threads had not come for their turn yet: kept
  # connections ended for the next one.
  def test_no_connection_gives_way_while_another_thread_is_about_to_come
    assert_equal [nil], graces(2)
  end

  def test_the_connection_of_the_only_thread_gives_way
    assert_equal [Cuttle::Engines::Threads::GRACE], graces(1)
  end

  private

  def graces(threads)
    source = Source.new
    Cuttle::Engines::Threads.new(source: source, service: nil, threads: threads..threads).run
    source.graces
  end
end

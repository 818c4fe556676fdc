# frozen_string_literal: true

require "test_helper"

class TestStaticRanges < Minitest::Test
  SIZE = 10_000

  def test_single_ranges
    { "bytes=0-499" => 0..499, "bytes=500-999" => 500..999, "bytes=-500" => 9500..9999, "bytes=9500-" => 9500..9999,
      "bytes=0-0" => 0..0, "bytes=-1" => 9999..9999, "bytes=0-" => 0..9999, "bytes=9999-10000" => 9999..9999,
      "bytes=0-99999999999999999999999" => 0..9999, "bytes=-99999999999999999999999" => 0..9999,
      "BYTES=1-2" => 1..2, "bytes= 1-2 ,\t" => 1..2, "bytes=001-0002" => 1..2 }.each do |field, range|
      assert_equal [range], parse(field), field
    end
  end

  def test_several_ranges_in_the_order_asked_for
    assert_equal [500..600, 0..10, 9900..9999], parse("bytes=500-600, 0-10,-100")
  end

  def test_what_is_not_there_is_left_out
    assert_equal [0..1], parse("bytes=10000-, 0-1, -0")
  end

  def test_nothing_there_at_all
    ["bytes=10000-", "bytes=10000-10001", "bytes=-0", "bytes=20000-,-0", "bytes=#{"9" * 40}-"].each do |field|
      assert_equal [], parse(field), field
    end
  end

  def test_invalid_fields_are_ignored
    ["", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=0-1,2-1", "bytes=1-2-3",
     "bytes=--1", "bytes=+1-2", "bytes=1 - 2", "bytes=0x1-2", "bytes =0-1", "items=0-1", "bytes=0-1;2-3", "bytes:0-1",
     "bytes=0-1\n", "bytes=0-\xb2"].each { |field| assert_nil parse(field), field.inspect }
  end

  def test_ranges_that_overlap_or_nearly_touch_become_one
    assert_equal [0..999], parse("bytes=0-499,500-999")
    assert_equal [0..999], parse("bytes=0-700,300-999")
    assert_equal [0..300], parse("bytes=200-300,0-100")
    assert_equal [0..9999], parse("bytes=0-,0-,0-,0-")
    assert_equal [0..100, 1000..1100], parse("bytes=0-100,1000-1100")
    assert_equal [5000..5100, 0..200], parse("bytes=5000-5100,100-200,0-150")
  end

  def test_no_octet_is_ever_sent_twice
    random = Random.new(2)
    200.times do
      specs = Array.new(random.rand(1..32)) { (first = random.rand(SIZE)) && "#{first}-#{first + random.rand(3000)}" }
      ranges = parse("bytes=#{specs.join(",")}")
      assert_operator ranges.sum(&:size), :<=, SIZE
      wanted = specs.flat_map { |spec| Range.new(*spec.split("-").map(&:to_i)).to_a }.uniq.select { |n| n < SIZE }
      assert_empty wanted - ranges.flat_map(&:to_a)
    end
  end

  def test_too_many_are_ignored
    specs = (0..32).map { |n| "#{n * 300}-#{n * 300}" }
    assert_equal 32, parse("bytes=#{specs.first(32).join(",")}").size
    assert_nil parse("bytes=#{specs.join(",")}")
    assert_nil parse("bytes=0-1#{"," * 2000}")
  end

  def test_an_empty_file_has_only_its_suffix
    assert_equal [], parse("bytes=0-", 0)
    assert_equal [], parse("bytes=-0", 0)
    assert_nil parse("bytes=-5", 0)
  end

  private

  def parse(field, size = SIZE)
    Cuttle::Static::Ranges.parse(field.b, size)
  end
end

# frozen_string_literal: true

require "test_helper"

class TestReportParts < Minitest::Test
  include TemporaryDirectory

  def setup
    @parts = Cuttle::Report::Parts.new(@directory)
  end

  def test_order_is_by_position
    @parts.add("last", 3, at: 30)
    @parts.add("first", 1, at: 10)
    @parts.add("second", 2, at: 20)
    @parts.add("and so on", 4, at: 30)
    assert_equal [["first", 1], ["second", 2], ["and so on", 4], ["last", 3]], @parts.to_h.to_a
  end

  def test_a_file_in_the_folder_is_enough
    File.write("#{@directory}/toy.rb", "TestReportParts.parts.add('toy', :toy, at: 5)")
    self.class.parts = @parts
    @parts.add("first", :first, at: 10)
    assert_equal({ "toy" => :toy, "first" => :first }, @parts.to_h)
  end

  def test_a_name_is_there_once
    @parts.add("first", 1, at: 10)
    assert_raises(ArgumentError) { @parts.add("first", 2, at: 20) }
  end

  class << self
    attr_accessor :parts
  end
end

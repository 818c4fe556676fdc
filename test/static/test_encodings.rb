# frozen_string_literal: true

require "test_helper"

class TestStaticEncodings < Minitest::Test
  def test_the_clients_choice
    {
      "" => [], "br" => %w[br], "gzip" => %w[gzip], "gzip, deflate, br, zstd" => %w[br gzip], "x-gzip" => %w[gzip],
      "GZIP" => %w[gzip], "gzip;q=1.0, br;q=0.5" => %w[gzip br], "br;q=0.1, gzip;q=0.100" => %w[br gzip],
      "gzip;q=0" => [], "gzip;q=0.000" => [], "br;q=0, gzip" => %w[gzip], "*" => %w[br gzip], "*;q=0" => [],
      "*;q=0, gzip" => %w[gzip], "gzip;q=0, *" => %w[br], "identity" => [], "identity;q=0, gzip" => %w[gzip],
      "identity;q=1, gzip;q=0.5" => [], "identity;q=0.5, gzip;q=0.5" => %w[gzip], "gzip;q=0.5, *;q=0.7" => %w[br],
      "deflate" => [], "gzip ; q=0.3" => %w[gzip], "gzip;Q=0.3" => %w[gzip], " br , gzip " => %w[br gzip]
    }.each { |field, codings| assert_equal codings, preferred(field), field.inspect }
  end

  def test_what_is_not_valid_is_not_liked
    ["gzip;q=2", "gzip;q=1.1", "gzip;q=-1", "gzip;q=", "gzip;q=0.1234", "gzip;level=1", "gzip br", ";q=1", "gzipp",
     "gzip;q=1;x", "\xff"].each { |field| assert_equal [], preferred(field), field.inspect }
  end

  def test_a_long_list_is_not_read
    assert_equal [], preferred("gzip,#{"a," * 5000}")
  end

  private

  def preferred(field)
    Cuttle::Static::Encodings.preferred(field.b)
  end
end

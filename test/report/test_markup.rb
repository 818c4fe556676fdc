# frozen_string_literal: true

require "test_helper"

# What comes from outside never becomes markup.
class TestReportMarkup < Minitest::Test
  Markup = Cuttle::Report::Markup

  def test_text_is_escaped_and_markup_is_not_escaped_again
    inner = Markup.tag(:b, "1 < 2 & \"3\"")
    assert_equal "<p><b>1 &lt; 2 &amp; &quot;3&quot;</b></p>", Markup.tag(:p, inner)
  end

  def test_attributes_are_escaped_and_nil_ones_left_out
    assert_equal %(<a href="&quot;&gt;&lt;script&gt;" aria-label="it&#39;s"></a>),
                 Markup.tag(:a, href: '"><script>', title: nil, aria_label: "it's")
  end

  def test_what_is_joined_to_markup_as_a_string_is_text_again
    assert_equal "<p>&lt;b&gt;&lt;/b&gt;!</p>", Markup.tag(:p, Markup.tag(:b) + "!")
  end

  def test_invalid_octets_and_control_characters
    assert_equal "a\uFFFDb", Markup.clean("a\xFFb")
    assert_equal "ab\n\tc", Markup.clean("a\e\u0000b\n\tc\u009b")
    assert_equal "ü", Markup.clean("ü".b)
  end
end

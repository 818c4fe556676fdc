# frozen_string_literal: true

require "test_helper"
require_relative "parser_contract"

# The suite over the parsers that serve.
class TestNativeParser < Minitest::Test
  include ParserContract

  def parser
    Cuttle::Http::Parsers::Native
  end
end

class TestPureParser < Minitest::Test
  include ParserContract

  def parser
    Cuttle::Http::Parsers::Pure
  end
end

# frozen_string_literal: true

require "test_helper"
require_relative "parser_contract"

# The suite over the parsers that serve: TestNativeParser, TestPureParser, and so on.
names = Cuttle::Http::Parsers.names.reject { |name| Cuttle::Cores.missing(name) } # JRuby has no native one
names.map { |name| Cuttle::Http::Parsers.fetch(name) }.reject(&:study_only?).each do |parser|
  suite = Class.new(Minitest::Test) do
    include ParserContract

    define_method(:parser) { parser }
  end
  Object.const_set("Test#{parser.name[/\w+\z/]}Parser", suite)
end

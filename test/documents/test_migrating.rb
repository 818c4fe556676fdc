# frozen_string_literal: true

require "test_helper"
require "cuttle/cli/ctl"

# docs/migrating-from-puma.md: what it calls equal is there, and it leaves no word of Puma's out.
class TestMigrating < Minitest::Test
  DOCUMENT = File.read(File.expand_path("../../docs/migrating-from-puma.md", __dir__))

  # Title => [[names, "equal", "other" or "none", what to know], …]
  TABLES = DOCUMENT.split(/^## /).drop(1).to_h do |section|
    rows = section.scan(/^\| (`.*) \| (\w+) \| (.*)\|$/)
    [section.lines.first.chomp, rows.map { |names, verdict, text| [names.scan(/`([^`]+)`/).flatten, verdict, text] }]
  end.freeze

  PUMA = Cuttle::Import::Puma
  CTL = Cuttle::CLI::Ctl

  def test_tables
    %w[Settings Options Hooks Signals pumactl].each { |title| refute_empty TABLES.fetch(title) }
    TABLES.each_value do |rows|
      rows.each { |names, verdict, _| assert_includes %w[equal other none], verdict, names.join }
      assert_equal rows.flat_map(&:first), rows.flat_map(&:first).uniq
    end
  end

  def test_equal_words_are_understood
    words = equal("Settings") + equal("Hooks")
    words.each { |word| assert Cuttle::Configuration::Words.understands?(word), word }
    words.each { |word| refute_kind_of String, PUMA::WORDS[word], word }
  end

  def test_words_without_an_equal_are_not_taken_over
    (names("Settings", "none") + names("Hooks", "none")).each do |word|
      refute Cuttle::Configuration::Words.understands?(word), word
      assert PUMA.known?(word), word
    end
  end

  # Of the versions since 6.
  def test_every_word_is_there
    older = %w[tcp_mode daemonize nakayoshi_fork]
    assert_empty PUMA::WORDS.keys + PUMA::RUN.keys - older - TABLES.values.flatten(1).flat_map(&:first)
    hooks = Cuttle::Hooks::NAMES.flatten(2).map(&:to_s)
    assert_equal hooks.sort, equal("Hooks").sort
  end

  def test_equal_options_are_there
    flags = Cuttle::Settings::TABLE.flat_map(&:flags).map { |flag| flag[/\A--?(?:\[no-\])?[\w-]+/].sub("[no-]", "") }
    equal("Options").each { |flag| assert_includes [*flags, "-V", "--version", "-h", "--help"], flag }
    names("Options", "none").each { |flag| refute_includes flags, flag }
  end

  def test_equal_signals_are_there
    signals = Cuttle::Signals
    known = signals::STOP + signals::RESTART + Cuttle::Cluster::SIGNALS + %w[INFO PWR]
    (equal("Signals") + names("Signals", "other")).each { |name| assert_includes known, name }
    names("Signals", "none").each { |name| refute_includes known, name }
  end

  def test_equal_commands_are_there
    words = CTL::WORDS.keys + CTL::ALIASES.keys
    equal("pumactl").each { |word| assert_includes words, word }
    (names("pumactl", "none") + names("pumactl", "other")).each { |word| refute_includes words, word }
  end

  private

  def names(title, verdict) = TABLES.fetch(title).select { |row| row[1] == verdict }.flat_map(&:first)

  def equal(title) = names(title, "equal")
end

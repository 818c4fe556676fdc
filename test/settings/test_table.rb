# frozen_string_literal: true

require "test_helper"
require "optparse"

# What is made of the table: the command line, its help, README, rackup's options.
class TestTable < Minitest::Test
  ROWS = Cuttle::Settings::TABLE
  OPTIONS = ROWS.reject { |row| row.flags.empty? }
  ROOT = File.expand_path("../..", __dir__)

  def test_documents_have_the_tables
    Cuttle::Settings::Readme::DOCUMENTS.each_key do |document|
      text = File.read("#{ROOT}/#{document}")
      assert_equal Cuttle::Settings::Readme.update(document, text), text, "run rake readme"
    end
  end

  def test_readmes_table_has_every_word_of_a_configuration_file
    lines = Cuttle::Settings::Readme.words.lines
    ROWS.flat_map(&:words).each { |word| assert lines.one? { |line| line[/[^|]+/].include?("`#{word}`") }, word }
  end

  def test_readmes_table_has_every_option
    lines = Cuttle::Settings::Readme.options.lines.drop(2)
    assert_equal OPTIONS.length, lines.length
    OPTIONS.zip(lines) do |row, line|
      row.flags.each { |flag| assert_includes line, "`#{flag.gsub("|", "\\|")}`" }
      [*row.variables, row.default_text].compact.each { |text| assert_includes line, text }
      assert_equal 3, line.gsub("\\|", "").count("|") - 1, line
    end
  end

  def test_readme_without_a_place_for_the_table
    error = assert_raises(Cuttle::Error) { Cuttle::Settings::Readme.update("README.md", "# X\n") }
    assert_match(/README.md has no place for the options/, error.message)
  end

  def test_readmes_table_has_every_engine_and_the_presets_that_select_it
    lines = Cuttle::Settings::Readme.engines.lines.drop(2)
    assert_equal(Cuttle::Engines.names.map { |name| "`#{name}`" }, lines.map { |line| line[/`\w+`/] })
    assert_match(/^\| `fibers` \| .*thousands of requests that wait \| falcon, goliath \|$/, lines[-2])
  end

  def test_readmes_table_has_every_preset
    lines = Cuttle::Settings::Readme.presets.lines.map(&:chomp)
    assert_includes lines, "| puma | hybrid | | 1:5 | on |"
    assert_includes lines, "| unicorn, pitchfork, serverengine | single | 1 | | off |"
    assert_includes lines, "| webrick | threads | | one per connection | on, 30 s |"
    names = lines.drop(2).flat_map { |line| line[/[^|]+/].strip.split(", ") }
    assert_equal Cuttle::Settings::LIKES.keys.sort, names.sort
  end

  def test_help_has_every_option
    help = parser({}).help
    OPTIONS.each do |row|
      assert_match(/^ +#{Regexp.escape(row.flags.join(", "))} /, help)
      assert_includes help, "#{row.group}:\n"
      assert_includes help.squeeze(" ").gsub(/\n */, " "), row.help
      assert_match(/\(#{Regexp.escape(row.default_text)}\)/, help) if row.default_text && row.argument
    end
    assert_empty help.lines.reject { |line| line.chomp.length <= 120 }
    assert_empty help.lines.grep(/^ {43}/), "one line for each"
  end

  def test_flags_become_values
    OPTIONS.each do |row|
      flags = {}
      parser(flags).parse!([row.flag, ("x" if row.argument)].compact)
      said = row.argument ? "x" : true
      assert_equal({ row.name => row.repeated ? [said] : said }, flags)
    end
  end

  def test_a_flag_that_may_be_given_again
    flags = {}
    parser(flags).parse!(%w[-b tcp://a:1 --bind tcp://a:2 -t 3 -t 4])
    assert_equal({ binds: %w[tcp://a:1 tcp://a:2], threads: "4" }, flags)
  end

  def test_the_flag_that_is_blamed
    assert_equal %w[--bind --keep-alive --threads --environment],
                 %i[binds keep_alive threads environment].map { |name| Cuttle::Settings.row(name).flag }
  end

  def test_help_names_the_variables
    help = Cuttle::Settings::Help.variables.join("\n")
    ROWS.flat_map { |row| [*row.variables, row.minimum].compact }.each { |name| assert_match(/\b#{name}\b/, help) }
  end

  # A row is enough: nothing else lists the settings.
  def test_rows_are_complete
    settings = Cuttle::Settings.build(variables: {})
    ROWS.each do |row|
      assert row.frozen?
      assert_respond_to settings, row.name
      assert_respond_to Cuttle::Settings::Kinds, Array(row.kind).first
      assert row.flags.empty? || (row.help && row.group), row.name
      assert_equal row.default.is_a?(Proc) && row.name != :binds && row.name != :docroot, !row.tells.nil?, row.name
      refute(row.variables.any? && row.flags.empty?, row.name)
    end
    assert_equal ROWS.map(&:name), ROWS.map(&:name).uniq
  end

  def test_a_column_that_is_none
    assert_raises(ArgumentError) { Cuttle::Settings::Row.new(name: :x, kind: :text, colour: "red") }
  end

  def test_a_check_of_its_own
    row = Cuttle::Settings::Row.new(name: :ink, kind: :text, flags: ["--ink COLOUR"],
                                    check: ->(value) { raise ArgumentError, "give a darker one" if value == "white" })
    assert_equal "black", row.coerce(:black)
    error = assert_raises(Cuttle::UsageError) { row.coerce("white") }
    assert_equal "--ink white: give a darker one", error.message
    error = assert_raises(Cuttle::UsageError) { row.coerce("white", "INK") }
    assert_equal "INK white: give a darker one", error.message
  end

  private

  def parser(flags)
    OptionParser.new { |parser| Cuttle::Settings::Help.add(parser, flags) }
  end
end

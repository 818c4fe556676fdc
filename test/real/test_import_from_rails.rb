# frozen_string_literal: true

require_relative "real"
require "cuttle/cli/import"
require "erb"
require "tmpdir"

# `cuttle import` of the config/puma.rb that Rails generates for a new app, with the Rails of the example forum.
class ImportFromRailsTest < Minitest::Test
  TEMPLATE = "lib/rails/generators/rails/app/templates/config/puma.rb.tt"

  # What the templates ask of the generator.
  module Generator
    def self.skip_solid? = false
    def self.bind = binding
  end

  def test_each_word_has_an_equal
    template = template_file || skip(Real::FORUM.missing || "the gem railties has no template here")
    Dir.mktmpdir do |directory|
      File.write(file = "#{directory}/puma.rb", ERB.new(File.read(template), trim_mode: "-").result(Generator.bind))
      import = Cuttle::Import.new(file)
      assert_includes import.text, "\nplugin :tmp_restart\n"
      assert_match(/^port \d+$/, import.text)
      assert_empty import.remarks.map(&:to_s).grep_v(/depends on/)
    end
  end

  private

  def template_file = Dir["#{Real::ROOT}/tmp/examples/ruby/*/gems/railties-*/#{TEMPLATE}"].first
end

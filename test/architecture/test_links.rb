# frozen_string_literal: true

require "test_helper"

# Links from one document to another lead somewhere: to a file, and to a heading of it.
class TestLinks < Minitest::Test
  ROOT = Serving::ROOT
  # The clone itself may lie below a directory of such a name.
  DOCUMENTS = Dir.glob("{*.md,{docs,examples,fuzz,benchmark,studies}/**/*.md}", base: ROOT)
                 .grep_v(%r{/(vendor|node_modules|tmp)/}).map { |path| File.join(ROOT, path) }.freeze

  def test_each_link_leads_somewhere
    wrong = DOCUMENTS.flat_map do |document|
      links(document).reject { |link| leads_somewhere?(document, link) }
                     .map { |link| "#{document.delete_prefix("#{ROOT}/")}: #{link}" }
    end
    assert_empty wrong
    assert_operator DOCUMENTS.sum { |document| links(document).length }, :>, 100
  end

  private

  # Those of the text, without what is only quoted.
  def links(document)
    text = File.read(document).gsub(/^```.*?^```/m, "")
    text.scan(/\]\(([^)\s]+)\)/).flatten.grep_v(/\A(https?|mailto):/)
  end

  def leads_somewhere?(document, link)
    path, heading = link.split("#", 2)
    file = path.empty? ? document : File.expand_path(path, File.dirname(document))
    return File.exist?(file) unless heading && file.end_with?(".md")

    File.exist?(file) && headings(file).include?(heading)
  end

  # As they stand in links.
  def headings(file)
    File.foreach(file).grep(/^#+ /).map do |line|
      line.sub(/^#+ /, "").strip.downcase.gsub(/[^\p{L}\p{N}_ -]/, "").tr(" ", "-")
    end
  end
end

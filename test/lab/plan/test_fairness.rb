# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# What was held equal: what is known before a lab, and what its runs find.
class TestLabFairness < Minitest::Test
  ASKED = { "what" => "backlog", "same" => false, "detail" => "1024 requested; no option for it: thin" }.freeze
  OTHER = { "what" => "slots", "same" => true, "detail" => "5 requests at once" }.freeze

  def test_servers_that_take_the_backlog_and_others
    assert_equal [true, "1024 requested"], before("cuttle", "puma", "unicorn")
    assert_equal [false, "1024 requested; no option for it: thin, falcon"], before("thin", "puma", "falcon")
  end

  def test_what_the_sockets_were_found_to_have
    told = seen("cuttle" => 1024, "thin" => 100, "puma" => 1024)
    assert_equal [false, "#{ASKED["detail"]}. Found: 100 at thin; 1024 at cuttle, puma"],
                 told.first.values_at("same", "detail")
    assert_equal OTHER, told.last
  end

  def test_a_server_that_has_it_by_default
    assert_equal [true, "#{ASKED["detail"]}. Found: 1024 at cuttle, thin"],
                 seen("cuttle" => 1024, "thin" => 1024).first.values_at("same", "detail")
  end

  def test_a_machine_where_nobody_says
    assert_equal [ASKED, OTHER], seen("cuttle" => nil, "thin" => nil)
  end

  private

  def before(*servers)
    present = servers.map { |name| Cuttle::Lab::Results::Configuration.new("server" => name) }
    fairness = Cuttle::Lab::Plan::Fairness.new(Struct.new(:present).new(present), app: nil, cores: nil)
    fairness.send(:backlog).values_at("same", "detail")
  end

  # The list of a lab whose servers' sockets had these backlogs.
  def seen(found)
    lab = SyntheticLab.new(found.keys, blocks: 2) { 100.0 }
    header = lab.header.merge("fairness" => [ASKED, OTHER])
    header["configurations"].each { |each| each["server"] = each["name"] }
    records = lab.records.each { |record| prove(record, found.values) if record["type"] == "run" }
    Cuttle::Lab::Results.new(SyntheticLab::Lines.new(header, records, []), "synthetic").fairness
  end

  def prove(run, found)
    number = found[run["configuration"].delete("c").to_i - 1]
    run["proof"] = [{ "setting" => "backlog", "wanted" => 1024, "found" => number, "proved" => number && true,
                      "how" => "" }]
  end
end

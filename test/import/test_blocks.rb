# frozen_string_literal: true

require "test_helper"

# Hooks of another server's file: their blocks, and what these need of that file.
class TestImportedBlocks < Minitest::Test
  include TemporaryDirectory

  FILE = <<~RUBY
    require "digest"
    ROOT = "/srv"
    started = nil
    limit = 2
    def twice(number) = number * factor
    def factor
      ROOT.length / 2
    end
    on_worker_boot { |index| started = [index, limit, twice(3)] }; on_worker_shutdown(:a) { |_| Thread.current[:told] = started } # c
    before_worker_fork do |index|
      Thread.current[:told] = "}\#{index} \#{Digest::MD5.name}" unless false
    end
  RUBY

  def test_hooks_work_as_they_did
    import = puma(FILE)
    assert_empty import.remarks
    hooks = configuration(import).hooks
    hooks.call(:before_worker_fork, 7)
    assert_equal "}7 Digest::MD5", Thread.current[:told]
    hooks.call(:before_worker_boot, 7)
    hooks.call(:before_worker_shutdown, 7)
    assert_equal [7, 2, 12 / 2], Thread.current[:told]
  end

  def test_what_a_block_needs_is_written_once_and_only_for_a_block
    assert_equal 1, puma(FILE).text.scan("started = nil").length
    assert_equal ["workers 2"], puma("require 'digest'\ncount = 2\nworkers count").text.lines.drop(3).map(&:chomp)
  end

  def test_what_is_no_text_has_to_be_copied_by_hand
    { "x = Object.new\nbefore_fork { x.y }" => "x is an object; copy it by hand",
      "X = Object.new\nbefore_fork { X.y }" => "X is an object; copy it by hand",
      "before_fork(&:object_id)" => "its block is not in this file; copy it by hand",
      "before_fork(&-> { 1 })" => "its block is not in this file; copy it by hand",
      "before_fork { PumaWorkerKiller.start }" =>
        "its block uses PumaWorkerKiller, which Cuttle does not have; copy what you need by hand",
      "before_fork do\n  class ::Puma::Server; end\nend" =>
        "its block uses Puma, which Cuttle does not have; copy what you need by hand",
      "on_worker_boot(:a) { |_, data| data }" => "hooks don't pass data on; copy it by hand" }.each do |text, reason|
      import = puma(text)
      refute_match(/^[^#\n]/, import.text)
      assert_equal [reason], import.remarks.map { |remark| remark.text.partition(": ").last }
    end
  end

  def test_where_the_app_is_not_loaded
    assert_equal ["on_booted: runs in the supervisor, which does not load the app (with workers 0 it is loaded)"],
                 puma("on_booted { 1 }").remarks.map(&:text)
  end

  # The file's own constants come first, not those of Cuttle with the same name.
  def test_constants_are_those_of_the_program
    assert_match(/^tag "Minitest"$/, puma("Settings = Minitest\ntag Settings.name").text)
    assert_match(/:1: uninitialized constant .*Lab \(/,
                 assert_raises(Cuttle::Error) { puma("Lab") }.message)
  end

  private

  def puma(text)
    path = "#{@directory}/puma.rb"
    File.write(path, text)
    Cuttle::Import.new(path)
  end

  def configuration(import)
    path = "#{@directory}/cuttle.rb"
    File.write(path, import.text)
    Cuttle::Configuration.read(path)
  end
end

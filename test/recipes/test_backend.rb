# frozen_string_literal: true

require "test_helper"
require_relative "support/recipe_case"

# The recipe for a back end of the poller, followed by that alone. Objects of the clone's own build make it quick: only
# what the recipe changed is compiled.
class TestBackendRecipe < Minitest::Test
  include RecipeCase

  BUILT = [RUBY_ENGINE, RUBY_VERSION, "p#{RUBY_PATCHLEVEL}", RUBY_PLATFORM].join("-")

  def setup
    @touched = follow("A poller back end")
  end

  def test_it_is_compiled_and_selected
    assert_equal files("A poller back end").map { |path| path.sub("NAME", "toy") }, @touched
    compile
    assert_equal [*Cuttle::Poller.backends, "toy"], ruby("-rcuttle", "-e", "puts Cuttle::Poller.backends").split
    serve(env: { "CUTTLE_BACKEND" => "toy" }) { |process| assert_serves process }
    assert_equal "toy\n", ruby("-rcuttle", "-e", "puts Cuttle::Poller.new([], env: {}).backend",
                               env: { "CUTTLE_BACKEND" => "toy" })
  end

  private

  def compile
    build = "#{@directory}/build"
    FileUtils.mkdir_p(build)
    FileUtils.cp(Dir["#{ROOT}/tmp/#{BUILT}/ext/cuttle/*.o"], build, preserve: true)
    [[RbConfig.ruby, "#{@directory}/ext/cuttle/extconf.rb"], %w[make --quiet]].each do |command|
      out, status = Open3.capture2e(*command, chdir: build)
      assert status.success?, out
    end
    library = "core.#{RbConfig::CONFIG["DLEXT"]}"
    FileUtils.cp("#{build}/#{library}", "#{@directory}/lib/cuttle/#{library}")
  end
end

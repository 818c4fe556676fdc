# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path("../lib", __dir__)
$LOAD_PATH.unshift ENV["CUTTLE_CORE"] if ENV["CUTTLE_CORE"] # another build of the extension: see rakelib/sanitize.rake
require "minitest/autorun"
require "cuttle"

# Each Ruby that a test starts would set up the bundle again, which takes longer than a server's start: it finds the
# same gems by their paths.
if ENV["RUBYOPT"]&.include?("bundler/setup")
  options = ENV["RUBYOPT"].split.grep_v(%r{bundler/setup\z})
  ENV["RUBYOPT"] = options.empty? ? nil : options.join(" ")
  gems = Gem.loaded_specs.values.reject { |gem| gem.default_gem? || %w[bundler cuttle].include?(gem.name) }
  ENV["RUBYLIB"] = [*gems.flat_map(&:full_require_paths), ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR)
end

Dir[File.expand_path("support/*.rb", __dir__)].each { |file| require file }

# A test that hangs says where, instead of stopping the run.
Thread.abort_on_exception = false

# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path("../lib", __dir__)
$LOAD_PATH.unshift ENV["CUTTLE_CORE"] if ENV["CUTTLE_CORE"] # another build of the extension: see rakelib/sanitize.rake
require "minitest/autorun"
require "cuttle"

Dir[File.expand_path("support/*.rb", __dir__)].sort.each { |file| require file }

# A test that hangs says where, instead of stopping the run.
Thread.abort_on_exception = false

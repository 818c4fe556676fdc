# frozen_string_literal: true

require_relative "lib/cuttle/version"

Gem::Specification.new do |spec|
  spec.name = "cuttle"
  spec.version = Cuttle::VERSION
  spec.summary = "A Ruby web server with every concurrency model, and the lab that tells which one your app should have"
  spec.description = <<~TEXT
    Cuttle serves any Rack app under the concurrency model of your choice (single, threads, reactor, hybrid, fibers;
    each alone or in forked workers) on one shared native core, so that a difference between two models is the models'.
  TEXT
  spec.authors = ["The Cuttle team"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/**/*.{rb,css}", "ext/**/*.{c,h,rb}", "exe/*", "README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE",
                   "docs/*.md", "examples/{hello,work}.ru", "examples/work/Gemfile",
                   "studies/**/*.{rb,ru,csv,md,js,txt,jsonl}", "studies/apps/*/Gemfile"]
  spec.bindir = "exe"
  spec.executables = ["cuttle"]
  spec.extensions = ["ext/cuttle/extconf.rb", "ext/cuttle_load/extconf.rb"]
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # The Rack interface itself: rackup files, and the table of content types.
  spec.add_dependency "rack", ">= 2.2", "< 4"
end

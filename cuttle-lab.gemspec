# frozen_string_literal: true

require_relative "lib/cuttle/version"

# What measures: the commands load, lab, tune, advise and study. It has no executable of its own: `cuttle` finds them.
Gem::Specification.new do |spec|
  spec.name = "cuttle-lab"
  spec.version = Cuttle::VERSION
  spec.summary = "Finds the concurrency model for a Ruby web app: load generator, lab, published studies"
  spec.description = <<~TEXT
    A load generator that measures response times from the intended time of each request and keeps exact histograms
    (cuttle load); a lab that serves your app under Cuttle's engines and under other Ruby servers, in turn, with
    statistics and a one-page report (cuttle lab); the engine, the workers and the threads for your app (cuttle tune,
    and cuttle advise for a running server); and the published experiments on Ruby server concurrency, repeated (cuttle
    study).
  TEXT
  spec.authors = ["The Cuttle team"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/cuttle/{lab,load,report,studies,tuner}{.rb,/**/*.{rb,css}}",
                   "lib/cuttle/cli/{advise,lab,load,study,tune}{.rb,/**/*.rb}",
                   "ext/cuttle_load/*.{c,h,rb}", "sig/cuttle-lab.rbs", "CHANGELOG.md", "LICENSE",
                   "docs/{examples,lab,lab-statistics,load,performance,studies,study,work}.md",
                   "docs/tuning*.md", "docs/images/hello.svg",
                   "examples/{hello,work}.ru", "examples/work/Gemfile",
                   "studies/**/*.{rb,ru,csv,md,js,txt,jsonl}", "studies/apps/*/Gemfile"]
  spec.extensions = ["ext/cuttle_load/extconf.rb"]
  spec.metadata = { "rubygems_mfa_required" => "true" }

  spec.add_dependency "cuttle", Cuttle::VERSION
end

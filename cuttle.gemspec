# frozen_string_literal: true

require_relative "lib/cuttle/version"

# The server: what a deployment installs, compiles and loads. The rest of this repository is cuttle-lab. On JRuby, or
# with CUTTLE_PLATFORM=java (rake cuttle:java:build), the gem is JRuby's, which compiles nothing.
java = RUBY_ENGINE == "jruby" || ENV["CUTTLE_PLATFORM"] == "java"

Gem::Specification.new do |spec|
  spec.name = "cuttle"
  spec.version = Cuttle::VERSION
  spec.summary = "A Ruby web server with every concurrency model on one native core"
  spec.description = <<~TEXT
    Cuttle serves any Rack app under the concurrency model of your choice, alone or in forked workers. All models share
    one native core, so a difference between two of them comes from the model. The gem cuttle-lab measures which one
    your app should have.
  TEXT
  spec.authors = ["The Cuttle team"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/**/*.rb"] - Dir["lib/cuttle/{lab,load,report,studies,tuner}{.rb,/**/*}"] -
               Dir["lib/cuttle/cli/{advise,lab,load,study,tune}{.rb,/**/*}"] +
               Dir[*("ext/cuttle{,_tls}/*.{c,h,rb}" unless java), "exe/*", "sig/cuttle.rbs", "man/cuttle.1",
                   "README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "examples/hello.ru",
                   "deploy/{*.*,Dockerfile,Procfile,kubernetes/*}",
                   "docs/{architecture,configuration,deployment,ecosystem,engines,kubernetes}.md",
                   "docs/{memory,migrating-from-puma,observability,platforms,security,static,tls}.md",
                   "docs/images/models.svg"]
  spec.bindir = "exe"
  spec.executables = ["cuttle"]
  spec.platform = "java" if java
  spec.extensions = %w[ext/cuttle/extconf.rb ext/cuttle_tls/extconf.rb] unless java
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # The Rack interface itself: rackup files, and the table of content types.
  spec.add_dependency "rack", ">= 2.2", "< 4"
end

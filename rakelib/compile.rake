# frozen_string_literal: true

# Builds an extension out of tree (tmp/) and copies the library beside the Ruby files that load it.
EXTENSIONS = { "lib/cuttle/core" => "ext/cuttle" }.freeze

EXTENSIONS.each do |library, source|
  target = "#{library}.#{RbConfig::CONFIG["DLEXT"]}"
  build = "tmp/#{RUBY_ENGINE}-#{RUBY_VERSION}/#{source}#{"-sanitized" if ENV["CUTTLE_SANITIZE"]}"

  file target => FileList["#{source}/*.{c,h,rb}"] do
    mkdir_p build, verbose: false
    Dir.chdir(build) { ruby "#{__dir__}/../#{source}/extconf.rb", verbose: false } unless File.exist?("#{build}/Makefile")
    sh "make", "-C", build, "-j2", "--quiet", verbose: false
    cp "#{build}/#{File.basename(target)}", target, verbose: false
  end

  task compile: target
end

desc "Compile the C extension"
task :compile

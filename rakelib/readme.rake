# frozen_string_literal: true

desc "Write the tables of options, engines, parsers and presets into README.md"
task :readme do
  $LOAD_PATH.unshift File.expand_path("../lib", __dir__)
  require "cuttle"
  path = File.expand_path("../README.md", __dir__)
  File.write(path, Cuttle::Settings::Readme.update(File.read(path)))
end

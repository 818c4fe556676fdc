# frozen_string_literal: true

desc "Write the tables of options, engines, parsers, presets and words into the documents, and the manual page"
task :readme do
  $LOAD_PATH.unshift File.expand_path("../lib", __dir__)
  require "cuttle"
  Cuttle::Settings::Readme::DOCUMENTS.each_key do |document|
    path = File.expand_path("../#{document}", __dir__)
    File.write(path, Cuttle::Settings::Readme.update(document, File.read(path)))
  end
  File.write(File.expand_path("../#{Cuttle::Settings::Manual::PATH}", __dir__), Cuttle::CLI.manual)
end

# frozen_string_literal: true

# Runs in JRuby itself, in one process: what goes through sockets to a server of the same process.
INSIDE_JRUBY = FileList["test/{http,rack}/test_*.rb", "test/static/test_{beneath,serving}.rb",
                        "test/contracts/test_{parsers,recognizer}.rb", "test/test_{server,listeners}.rb",
                        "test/jruby/races.rb"]

# Paths of the gems that tests use, which are Ruby throughout.
def paths_for_jruby
  Gem.loaded_specs.values_at("minitest", "rack", "rackup").compact.flat_map(&:full_require_paths)
end

# The contract of engines, with servers that JRuby runs.
def test_engines_on_jruby
  environment = { "CUTTLE_SERVER_RUBY" => JRuby.quick_command.shelljoin }
  system(environment, RbConfig.ruby, "-Itest", "-Ilib", "-rrunner", "test/jruby/engines.rb")
end

def test_inside_jruby
  paths = [*paths_for_jruby, "test", "lib"].map { |path| "-I#{path}" }
  environment = { "RUBYOPT" => nil, "RUBYLIB" => nil }
  system(environment, *JRuby.quick_command, *paths, "test/jruby/inside.rb", *INSIDE_JRUBY)
end

desc "Run the tests of the core in Ruby on JRuby"
task "test:jruby" => :compile do
  require_relative "../bin/support/jruby"
  if (reason = JRuby.missing)
    puts "not tested on JRuby: #{reason}"
  else
    [test_inside_jruby, test_engines_on_jruby].all? || abort("Tests fail on JRuby")
  end
end

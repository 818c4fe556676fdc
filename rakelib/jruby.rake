# frozen_string_literal: true

require "etc"

# Runs in JRuby itself, in one process: what goes through sockets to a server of the same process.
INSIDE_JRUBY = FileList["test/{http,rack}/test_*.rb", "test/static/test_{beneath,serving}.rb",
                        "test/contracts/test_{parsers,recognizer}.rb", "test/test_{server,listeners}.rb",
                        "test/jruby/races.rb"]

# Paths of the gems that tests use, which are Ruby throughout.
def paths_for_jruby
  Gem.loaded_specs.values_at("minitest", "rack", "rackup").compact.flat_map(&:full_require_paths)
end

def test_inside_jruby
  paths = [*paths_for_jruby, "test", "lib"].map { |path| "-I#{path}" }
  environment = { "RUBYOPT" => nil, "RUBYLIB" => nil }
  system(environment, *JRuby.quick_command, *paths, "test/jruby/inside.rb", *INSIDE_JRUBY)
end

# The contract of engines and the command line, with servers that JRuby runs.
task "jruby:servers" => :compile do
  require_relative "../bin/support/jruby"
  processes = ENV.fetch("CUTTLE_PROCESSES") { (Etc.nprocessors * 2).to_s } # a JVM computes for seconds at its start
  environment = { "CUTTLE_SERVER_RUBY" => JRuby.quick_command.shelljoin, "CUTTLE_PROCESSES" => processes }
  loads = %w[engines programs].map { |name| "load 'test/jruby/#{name}.rb'" }
  sh(environment, RbConfig.ruby, "-Itest", "-Ilib", "-rrunner", "-e", loads.join("; "), verbose: false)
end

desc "Run the tests of the core in Ruby on JRuby, if there is a Java"
task "test:jruby" => :compile do
  require_relative "../bin/support/jruby"
  require_relative "../bin/support/suites"
  if (reason = JRuby.missing)
    puts "not tested on JRuby: #{reason}"
  else
    # A cold JVM on a busy machine misses a limit of 0.3 s: these have a second run.
    servers = [Suites::Suite.new("servers of JRuby", {}, "jruby:servers")]
    [test_inside_jruby, Suites.run([servers])].all? || abort("Tests fail on JRuby")
  end
end

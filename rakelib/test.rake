# frozen_string_literal: true

require "rake/testtask"

# A test that prints a warning of Ruby's may be about to fail on the next one; other people's gems warn on their own.
def tests(name, files)
  Rake::TestTask.new(name => :compile) do |task|
    task.libs = %w[test lib]
    task.test_files = files
    task.ruby_opts = %w[-rrunner]
    task.warning = false
  end
end

# They start other servers than ours, as far as there are some, and wait for them.
PEERS = FileList["test/lab/servers/test_{bundled,haproxy,installation,passenger,peers,versions}.rb"]

# Whole programs, which take most of the time: real apps with browsers and databases, gems and clones that are
# installed, restarts and releases under Bundler, recipes for contributors, the test runner itself, labs, tunes, studies
# and benchmarks that measure real servers, and all kept studies with what was made of them.
REAL = FileList["test/real/**/test_*.rb", "test/recipes/test_*.rb", "test/cli/test_{clone,gem}.rb",
                "test/cluster/test_{bundle,releases,restarts}.rb", "test/deploy/test_many_machines.rb",
                "test/runner/test_suites.rb", "test/tuner/test_{profiler,session,validation}.rb",
                "test/load/test_self_test.rb", "test/lab/test_lab.rb",
                "test/lab/apps/test_{album,hello_rails,postgres}.rb", "test/**/test_*in_chromium.rb",
                "test/studies/test_{command,documents}.rb", "test/benchmark/test_{alternation,server,trials,waits}.rb"]

desc "Run all tests but those of whole programs and of other servers; TEST=path runs one file"
tests :test, FileList["test/**/test_*.rb"].exclude(*PEERS, *REAL)

desc "Run real apps with real clients, install the gems, and measure real servers"
tests "test:real", REAL

desc "Run the tests of other servers as the lab's peers"
tests "test:peers", PEERS

desc "Run the tests of everything that knows Rack (bin/test runs them under Rack 2.2 as well)"
tests "test:rack", FileList["test/{rack/**/test_*,test_server}.rb"]

desc "Hold the cores against each other for long: CASES=10000 dialogues for each engine, from SEED=1 on; ENGINE=hybrid"
task oracle: :compile do
  bounds = { "CUTTLE_CASES" => ENV.fetch("CASES", "10000"), "CUTTLE_SEED" => ENV.fetch("SEED", "1") }
  sh(bounds, RbConfig.ruby, "-Itest", "-Ilib", "test/contracts/test_oracle.rb", "-n", "/#{ENV.fetch("ENGINE", "")}/",
     verbose: false)
end

# What differs from one Ruby to another: everything that goes through the extension, and each command once.
RUBY4 = FileList["test/{contracts,engines,rack,cluster,load}/**/test_*.rb", "test/architecture/test_warnings.rb"]

desc "Run the tests of the extension with Ruby 4 and YJIT (CUTTLE_RUBY4: an archive or a directory)"
task "test:ruby4" do
  require_relative "../bin/support/ruby4"
  if Ruby4.missing?
    puts "not tested with Ruby 4: there is no #{Ruby4.source} (CUTTLE_RUBY4 names another)"
  else
    Ruby4.test(RUBY4) || abort("Tests fail with Ruby 4")
  end
end

# frozen_string_literal: true

require "rake/testtask"

# A test that prints a warning of Ruby's may be about to fail on the next one; other people's gems warn on their own.
def tests(name, pattern, needs: :compile)
  Rake::TestTask.new(name => needs) do |task|
    task.libs = %w[test lib]
    task.pattern = pattern
    task.ruby_opts = %w[-rrunner]
    task.warning = false
  end
end

desc "Run all tests"
tests :test, "test/**/test_*.rb"

desc "Run the tests of everything that knows Rack (bin/test runs them under Rack 2.2 as well)"
tests "test:rack", "test/{rack/**/test_*,test_server}.rb"

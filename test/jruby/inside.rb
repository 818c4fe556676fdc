# frozen_string_literal: true

# Runs the test files of ARGV in this JRuby, without those that are exempt.
require "test_helper"
require_relative "exempt"

# A test that hangs ends the run, and says where the threads are. (Those with servers as processes have test/runner.)
module Watched
  LIMIT = Integer(ENV.fetch("CUTTLE_TEST_LIMIT", 300))

  def run
    watch = Thread.new { sleep(LIMIT) && give_up }
    super
  ensure
    watch.kill
  end

  private

  def give_up
    warn "#{self.class}##{name} hangs"
    Thread.list.each { |thread| warn thread.inspect, *thread.backtrace, "" }
    exit!(1)
  end
end
Minitest::Test.prepend(Watched)

ARGV.shift(ARGV.size).each { |file| load file }
Exempt.remove
passed = Minitest.run([])
$stdout.flush
exit!(passed ? 0 : 1) # JRuby's own end would wait for threads that tests have left in an app

# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "cuttle/plugin/solid_queue"

# Which process the plugin signals when: process ids are used again. test/configuration/test_plugins.rb has it in
# servers.
class TestSolidQueue < Minitest::Test
  include Eventually
  include TemporaryDirectory

  # Records the commands that the plugin gives to its server.
  Server = Struct.new(:commands) do
    def command(name) = commands << name
  end

  # The words of a configuration file, of which the plugin needs hooks.
  class Words
    attr_reader :hooks

    def initialize
      @hooks = {}
    end

    %i[after_booted before_restart after_stopped before_worker_boot].each do |name|
      define_method(name) { |&block| @hooks[name] = block }
    end
  end

  def setup
    @server = Server.new([])
    @words = Words.new
    @plugin = Cuttle::Plugin::SolidQueue.new
    @plugin.config(@words)
    @plugin.start(@server)
  end

  # Then the wait in after_stopped raises.
  def test_nothing_is_killed_later_if_the_watch_has_waited_for_the_jobs
    jobs("exec sleep 60")
    before = Thread.list
    Process.stub(:wait, ->(_) { raise Errno::ECHILD }) { @words.hooks[:after_stopped].call }
    eventually("the killer's end", within: Cuttle::Plugin::SolidQueue::PATIENCE / 2) { (Thread.list - before).empty? }
  end

  # Their process id may be another process' by then.
  def test_jobs_that_have_ended_get_no_signal
    jobs("exit 3")
    capture_io { eventually("the stop") { @server.commands == %w[stop] } }
    Process.stub(:kill, ->(*arguments) { flunk arguments.inspect }) { @words.hooks[:after_stopped].call }
  end

  private

  def jobs(command)
    FileUtils.mkdir_p("#{@directory}/bin")
    File.write("#{@directory}/bin/jobs", "#!/bin/sh\n#{command}\n")
    File.chmod(0o755, "#{@directory}/bin/jobs")
    Dir.chdir(@directory) { @words.hooks[:after_booted].call }
  end
end

# frozen_string_literal: true

require "test_helper"
require "socket"

# The messages to systemd, received on a socket like systemd's.
class TestNotify < Minitest::Test
  include TemporaryDirectory

  Notify = Cuttle::Notify

  def setup
    @before = ENV.fetch("NOTIFY_SOCKET", nil)
    @systemd = Socket.new(:UNIX, :DGRAM)
    @systemd.bind(Addrinfo.unix("#{@directory}/notify", :DGRAM))
    ENV["NOTIFY_SOCKET"] = "#{@directory}/notify"
  end

  def teardown
    ENV["NOTIFY_SOCKET"] = @before
    @systemd.close
  end

  def test_each_message
    { -> { Notify.ready } => "READY=1", -> { Notify.ready("2 workers") } => "READY=1\nSTATUS=2 workers",
      -> { Notify.stopping } => "STOPPING=1", -> { Notify.alive } => "WATCHDOG=1",
      -> { Notify.status("2 of 3 workers\nbusy") } => "STATUS=2 of 3 workers busy",
      -> { Notify.main_pid } => "MAINPID=#{Process.pid}", -> { Notify.main_pid(7) } => "MAINPID=7" }
      .each do |call, message|
      assert_equal true, call.call
      assert_equal message, heard
    end
  end

  # Type=notify-reload takes a READY=1 for the answer to its signal by that time.
  def test_a_reload_says_since_when
    before = now
    assert Notify.reloading("a new app")
    state, time, status = heard.lines(chomp: true)
    assert_equal ["RELOADING=1", "STATUS=a new app"], [state, status]
    assert_includes before..now, time[/\AMONOTONIC_USEC=(\d+)\z/, 1].to_i
  end

  def test_a_socket_without_a_file
    name = "cuttle-#{Process.pid}-#{object_id}"
    systemd = Socket.new(:UNIX, :DGRAM)
    systemd.bind(Addrinfo.unix("\0#{name}", :DGRAM))
    assert Notify.tell("READY=1", variables: { "NOTIFY_SOCKET" => "@#{name}" })
    assert_equal "READY=1", heard(systemd)
  ensure
    systemd&.close
  end

  def test_nobody_listens
    [nil, "", "relative", "vsock:2:1234", "#{@directory}/gone", "/#{"x" * 200}", "@#{"x" * 200}"].each do |address|
      ENV["NOTIFY_SOCKET"] = address
      assert_equal false, Notify.ready("x"), address
    end
  end

  # Its queue is full, and then it isn't.
  def test_one_that_does_not_read
    sent = 1
    sent += 1 while Notify.alive
    assert_equal(["WATCHDOG=1"] * (sent - 1), Array.new(sent - 1) { heard })
    assert_equal true, Notify.alive
  end

  def test_the_time_between_two_signs_of_life
    { {} => nil, { "WATCHDOG_USEC" => "30000000" } => 15.0,
      { "WATCHDOG_USEC" => "500", "WATCHDOG_PID" => Process.pid.to_s } => 0.00025,
      { "WATCHDOG_USEC" => "30000000", "WATCHDOG_PID" => Process.ppid.to_s } => nil,
      { "WATCHDOG_USEC" => "0" } => nil, { "WATCHDOG_USEC" => "x" } => nil }.each do |variables, seconds|
      seconds.nil? ? assert_nil(Notify.watchdog(variables)) : assert_equal(seconds, Notify.watchdog(variables))
    end
  end

  # systemd's own program says the same.
  def test_as_systemd_notify_says_it
    skip "systemd-notify is not installed (Debian package systemd)" unless File.executable?("/usr/bin/systemd-notify")

    assert system("systemd-notify", "--no-block", "--ready", "--status=2 workers", "--pid=#{Process.pid}")
    theirs = heard.lines(chomp: true).sort
    Notify.ready("2 workers")
    Notify.main_pid
    assert_equal theirs, [heard, heard].join("\n").lines(chomp: true).sort
  end

  private

  def heard(socket = @systemd)
    socket.recv_nonblock(4096)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)
  end
end

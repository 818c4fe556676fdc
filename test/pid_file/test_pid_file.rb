# frozen_string_literal: true

require "test_helper"
require "rbconfig"

# Pidfile and state file: which process holds them, and which may replace and remove them.
class TestPidFile < Minitest::Test
  include Eventually
  include TemporaryDirectory

  Control = Struct.new(:uri, :token)

  def setup
    @path = "#{@directory}/server.pid"
    @state = "#{@directory}/state"
    @children = []
  end

  def teardown
    @children.dup.each { |pid| end_child(pid) }
  end

  def test_none_wanted
    file = Cuttle::PidFile.new(Cuttle::Settings.build(variables: {}))
    file.claim
    file.announce(Control.new("unix:///x", nil))
    file.release
    assert_empty Dir.children(@directory)
  end

  def test_from_claim_to_release
    file = claimed
    assert_equal "#{Process.pid}\n", File.read(@path)
    assert_equal [0o666 & ~File.umask, 0o600], [@path, @state].map { |path| File.stat(path).mode & 0o777 }
    assert_equal({ "pid" => Process.pid.to_s, "running_from" => Dir.pwd }, state)
    file.announce(Control.new("tcp://127.0.0.1:1", 'to"ken'))
    assert_equal ["tcp://127.0.0.1:1", 'to"ken'], state.values_at("control_url", "control_auth_token")
    assert_equal [Process.pid] * 2, [@path, @state].map { |path| Cuttle::PidFile.owner(path) }
    file.release
    assert_empty Dir.children(@directory)
  end

  # Puma's tools read it as YAML.
  def test_a_state_file_is_yaml
    require "yaml"
    file = claimed
    file.announce(Control.new("unix:///a: b\"ä", "0123"))
    assert_equal({ "pid" => Process.pid, "control_url" => "unix:///a: b\"ä", "control_auth_token" => "0123",
                   "running_from" => Dir.pwd }, YAML.safe_load_file(@state))
    assert_equal "unix:///a: b\"ä", state["control_url"]
  ensure
    file.release
  end

  def test_permissions
    file = claimed(state_permission: "640")
    assert_equal 0o640, File.stat(@state).mode & 0o777
    file.announce(Control.new("unix:///x", nil))
    assert_equal 0o640, File.stat(@state).mode & 0o777
  ensure
    file.release
  end

  def test_an_error_names_a_live_owner_which_keeps_its_files
    owner = child { claimed }
    error = assert_raises(Cuttle::Error) { claimed }
    assert_equal "process #{owner} is already running and holds the pidfile #{@path}", error.message
    assert_equal [owner, owner], [@path, @state].map { |path| Cuttle::PidFile.owner(path) }
    error = assert_raises(Cuttle::Error) { claimed(pidfile: nil) }
    assert_equal "process #{owner} is already running and holds the state file #{@state}", error.message
  end

  # A process that gets the pidfile and not the state file leaves neither.
  def test_all_files_or_none
    owner = child { claimed(pidfile: nil) }
    assert_raises(Cuttle::Error) { claimed }
    assert_equal [["state"], owner], [Dir.children(@directory), Cuttle::PidFile.owner(@state)]
  end

  def test_what_a_killed_owner_left_is_replaced
    owner = child { claimed }
    end_child(owner)
    assert_equal ["#{owner}\n", nil], [File.read(@path), Cuttle::PidFile.owner(@path)]
    claimed.release
    assert_empty Dir.children(@directory)
  end

  # The number of a dead server may be another process' now.
  def test_a_pid_that_is_a_strangers
    File.write(@path, "#{Process.ppid}\n")
    assert_nil Cuttle::PidFile.owner(@path)
    claimed.release
  end

  # A worker may outlive a supervisor that was killed, and has inherited the lock.
  def test_an_orphan_with_the_lock_keeps_nobody_away
    ready, tell = IO.pipe
    owner = child do
      claimed
      orphan = fork { sleep }
      tell.write("#{orphan}\n")
    end
    @children << orphan = ready.gets.to_i
    end_child(owner)
    assert_nil Cuttle::PidFile.owner(@path)
    claimed.release
  ensure
    Process.kill("KILL", orphan) if orphan
    @children.delete(orphan)
  end

  def test_a_forked_child_neither_holds_nor_removes_the_files
    file = claimed
    child_of_ours = child { file.close }
    assert_equal Process.pid, Cuttle::PidFile.owner(@path)
    end_child(child_of_ours)
    Process.wait(fork { file.release || exit!(0) })
    assert_equal Process.pid, Cuttle::PidFile.owner(@path)
  ensure
    file.release
  end

  def test_of_many_that_start_at_once_one_gets_it
    File.write(@path, "999999999\n") # stale
    winners = race(12)
    assert_equal 1, winners.length, winners.inspect
    assert_equal winners.first, Cuttle::PidFile.owner(@path)
    assert_equal %w[server.pid state], Dir.children(@directory).sort, "no temporary file"
  end

  def test_a_file_that_somebody_else_has_replaced_is_left_alone
    file = claimed(state_path: nil)
    File.unlink(@path)
    other = child { claimed(state_path: nil) }
    assert_raises(Cuttle::Error) { file.claim }
    assert_equal other, Cuttle::PidFile.owner(@path)
  end

  def test_a_file_that_somebody_removed_is_written_again
    file = claimed
    [@path, @state].each { |path| File.unlink(path) }
    file.announce(Control.new("unix:///x", nil))
    assert_equal Process.pid, Cuttle::PidFile.owner(@state)
    file.release
    assert_empty Dir.children(@directory)
  end

  def test_files_of_others_are_not_overwritten
    File.write(@path, "production:\n  adapter: postgresql\n")
    error = assert_raises(Cuttle::Error) { claimed }
    assert_match(/server.pid is not a pidfile: it has other content\z/, error.message)
    assert_match(/postgresql/, File.read(@path))
    ["/dev/null", @directory].each do |path|
      error = assert_raises(Cuttle::Error) { claimed(pidfile: path) }
      assert_equal "the pidfile #{path} is not a regular file", error.message
    end
    File.write(@path, "")
    claimed.release
  end

  def test_a_directory_that_is_missing
    error = assert_raises(Cuttle::Error) { claimed(pidfile: "#{@directory}/no/such") }
    assert_equal "can't write the pidfile #{@directory}/no/such: its directory does not exist", error.message
  end

  # Some programs lock a directory for long; that is not about us.
  def test_a_directory_that_somebody_has_locked
    Dir.open(@directory) do |directory|
      File.open(directory.path) do |locked|
        locked.flock(File::LOCK_EX)
        claimed.release
      end
    end
  end

  # The supervisor replaces its program in place. Nobody gets the files meanwhile, and no descriptor is left over.
  def test_an_exec_keeps_the_files
    ready, tell = IO.pipe
    program = "#{@directory}/program.rb"
    File.write(program, <<~RUBY)
      path, state, round = ARGV
      file = Cuttle::PidFile.new(Cuttle::Settings.build(variables: {}, pidfile: path, state_path: state)).tap(&:claim)
      file.announce(Struct.new(:uri, :token).new("unix:///\#{round}"))
      open = Dir["/proc/self/fd/*"].count { |fd| [path, state].include?(File.readlink(fd)) rescue false }
      $stdout.write("\#{Process.pid} \#{open} \#{ENV[Cuttle::PidFile::HANDED_OVER].inspect}\n")
      $stdout.flush
      round == "2" ? sleep : file.over_exec { |variables| exec(variables, *#{ruby.inspect}, __FILE__, path, state, round.next) }
    RUBY
    @children << pid = spawn(*ruby, program, @path, @state, "0", out: tell)
    owners = []
    watcher = Thread.new { loop { owners << Cuttle::PidFile.owner(@path) } }
    assert_equal ["#{pid} 2 nil\n"] * 3, Array.new(3) { ready.gets }
    watcher.kill.join
    assert_equal [pid], owners.drop_while(&:nil?).uniq
    assert_equal "unix:///2", state["control_url"]
  end

  # The new program's configuration names other files.
  def test_an_exec_to_other_paths
    ready, tell = IO.pipe
    program = "#{@directory}/program.rb"
    File.write(program, <<~RUBY)
      path, again = ARGV
      options = { pidfile: path, state_path: path + ".state" }
      file = Cuttle::PidFile.new(Cuttle::Settings.build(variables: {}, **options)).tap(&:claim)
      file.over_exec { |variables| exec(variables, *#{ruby.inspect}, __FILE__, path + "2") } if again
      $stdout.write(Dir["/proc/self/fd/*"].count { |fd| File.readlink(fd).start_with?(path.chop) rescue false }, "\n")
      $stdout.flush
      sleep
    RUBY
    @children << pid = spawn(*ruby, program, @path, "again", out: tell)
    assert_equal "2\n", ready.gets, "descriptors that are open"
    assert_equal %w[program.rb server.pid2 server.pid2.state], Dir.children(@directory).sort
    assert_equal pid, Cuttle::PidFile.owner("#{@path}2")
  end

  # Somebody else has taken the path meanwhile.
  def test_a_former_path_that_is_not_ours
    File.write(@state, "#{Process.ppid}\n")
    file = File.open(@state)
    file.autoclose = false
    ENV[Cuttle::PidFile::HANDED_OVER] = "#{Process.pid}\n#{file.fileno}:#{@state}"
    claimed(state_path: nil).release
    assert_equal ["state"], Dir.children(@directory)
    assert_raises(Errno::EBADF) { file.stat }
  end

  def test_an_exec_that_fails_changes_nothing
    file = claimed
    assert_raises(Errno::ENOENT) { file.over_exec { exec("/no/such") } }
    assert_nil ENV.fetch(Cuttle::PidFile::HANDED_OVER, nil)
    @children << spawn(RbConfig.ruby, "--disable=gems", "-e", "sleep")
    file.close
    assert_nil Cuttle::PidFile.owner(@path), "a program that was started has the lock"
  end

  # Another program's variable, or one that an app inherited.
  def test_descriptors_that_are_none
    pid = Process.pid
    ["x", "#{pid}:x", "#{pid}:0,987654", "#{Process.ppid}:0", "#{pid}\nx", "#{pid}\n0:#{@path}\n987654:#{@path}",
     "#{pid}\n0", "#{Process.ppid}\n0:#{@path}"].each do |value|
      ENV[Cuttle::PidFile::HANDED_OVER] = value
      claimed.release
      assert_nil ENV.fetch(Cuttle::PidFile::HANDED_OVER, nil)
      refute $stdin.closed?
    end
  end

  private

  def settings(**options)
    Cuttle::Settings.build(variables: {}, pidfile: @path, state_path: @state, **options)
  end

  def claimed(**options)
    Cuttle::PidFile.new(settings(**options)).tap(&:claim)
  end

  def state
    Cuttle::PidFile::State.parse(File.read(@state))
  end

  def ruby
    [RbConfig.ruby, "--disable=gems", *Serving::ServingProcess::PATHS.map { |path| "-I#{path}" }, "-rcuttle"]
  end

  # The pid of a child that has run the block and stays.
  def child
    ready, tell = IO.pipe
    pid = fork do
      ready.close
      yield
      tell.write(".")
      sleep
    ensure
      exit!(1)
    end
    @children << pid
    tell.close
    assert_equal ".", ready.read(1)
    pid
  end

  def end_child(pid)
    Process.kill("KILL", pid)
    Process.wait(pid)
    @children.delete(pid)
  end

  # Pids of those among +count+ processes that got the files.
  def race(count)
    start, go = IO.pipe
    told, tell = IO.pipe
    @children += Array.new(count) do
      fork do
        go.close
        start.read
        told = [claimed && Process.pid] rescue [0]
        tell.write("#{told.first}\n")
        sleep
      ensure
        exit!(1)
      end
    end
    go.close
    Array.new(count) { told.gets.to_i } - [0]
  end
end

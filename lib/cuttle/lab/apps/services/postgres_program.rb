# frozen_string_literal: true

# The process of Services::Postgres: `ruby postgres_program.rb PROGRAMS USER CONNECTIONS`. It creates a cluster in a
# temporary directory, runs the server, and prints the directory. At the end of its standard input, it stops the server
# and removes the directory. PostgreSQL refuses to run as root; for root, all of this runs under another account.

require "etc"
require "fileutils"
require "io/wait"
require "tmpdir"

ACCOUNTS = %w[postgres nobody].freeze
SETTINGS = { "listen_addresses" => "", "port" => 5432, "unix_socket_permissions" => "0700",
             "fsync" => "off", "autovacuum" => "off", "jit" => "off", "timezone" => "UTC",
             "logging_collector" => "off", "log_line_prefix" => "", "shared_buffers" => "64MB" }.freeze
LONGEST_SOCKET = 90 # octets of the directory's path; the system allows 107 for the socket's path
START = 50 # seconds
STOP = 15 # seconds until the next, harder signal

def leave_root
  account = Etc.enum_for(:passwd).find { |entry| ACCOUNTS.include?(entry.name) }
  abort "there is no account to run it as (#{ACCOUNTS.join(" or ")})" unless account

  Process.initgroups(account.name, account.gid)
  Process::GID.change_privilege(account.gid)
  Process::UID.change_privilege(account.uid)
end

# The server, from creating the cluster to removing it.
class Keeper
  def initialize(programs, user, connections)
    @programs = programs
    @user = user
    @connections = connections
    @directory = Dir.mktmpdir("cuttle-postgres", (Dir.tmpdir.bytesize > LONGEST_SOCKET - 30 ? "/tmp" : Dir.tmpdir))
  end

  def run
    create
    start
    wait_until_ready
    $stdout.puts "ready #{@directory}"
    $stdout.flush
    sleep 0.02 until ended? || $stdin.wait_readable(0.5)
    abort "the server ended: #{last_words}" if ended?
  ensure
    stop
    FileUtils.rm_rf(@directory)
  end

  private

  def create
    done = system("#{@programs}/initdb", "-D", data, "-U", @user, "--auth=trust", "--encoding=UTF8", "--no-locale",
                  "--no-sync", out: log, err: %i[child out])
    abort "initdb: #{last_words}" unless done
  end

  def start
    settings = SETTINGS.merge("max_connections" => @connections, "unix_socket_directories" => @directory)
    @pid = spawn("#{@programs}/postgres", "-D", data, *settings.flat_map { |name, value| ["-c", "#{name}=#{value}"] },
                 in: File::NULL, out: log, err: %i[child out])
  end

  # The last line of the pid file says when the server is ready.
  def wait_until_ready
    deadline = now + START
    until File.exist?("#{data}/postmaster.pid") && File.readlines("#{data}/postmaster.pid")[7].to_s.strip == "ready"
      abort "the server did not start: #{last_words}" if ended? || now > deadline

      sleep 0.01
    end
  end

  # Fast shutdown, then an immediate one.
  def stop
    %w[INT QUIT KILL].each do |signal|
      break if @pid.nil? || ended?

      Process.kill(signal, @pid)
      deadline = now + STOP
      sleep 0.01 until ended? || now > deadline
    end
  end

  def ended?
    @ended ||= !Process.wait(@pid, Process::WNOHANG).nil?
  end

  def last_words
    File.readlines(log).map(&:strip).reject(&:empty?).last
  end

  def data
    "#{@directory}/data"
  end

  def log
    "#{@directory}/log"
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

Dir.chdir("/")
leave_root if Process.euid.zero?
Keeper.new(*ARGV.values_at(0, 1, 2)).run

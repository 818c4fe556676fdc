# frozen_string_literal: true

require "rbconfig"

module Cuttle
  # A hot restart: this process executes its own command line again, with the present program and configuration. It
  # keeps its pid and its listeners, so no connection is refused. First a rehearsal in another process shows that the
  # program boots; if it does not, nothing changes. The environment is that of the start, without what this program or
  # its app has changed, but with what the hook before_restart changes.
  class Restart
    autoload :Directory, "cuttle/restart/directory"

    # Set for the process of a rehearsal: the pid of the process that it is for, and a word that asks whether the
    # program obeys STOPPED.
    REHEARSAL = "CUTTLE_REHEARSAL"
    ASKS = "stopped?"

    # The exit status of a rehearsal that succeeded. It is not 0, because a configuration or an app may end the process
    # with 0. The second one answers yes to the word; an older program does not know it.
    REHEARSED = 86
    ATTENTIVE = 87

    # Set, to its process id, for a program that must stop once it can answer what waits in the backlog.
    STOPPED = "CUTTLE_STOPPED"

    # Seconds between two checks whether the process that a rehearsal is for still exists.
    LOOK = 0.5

    # Whether this process has just executed itself, and so may have workers and clients. Call it once.
    def self.again?
      ENV.delete(EXECUTED) == Process.pid.to_s
    end

    # Whether this process is a rehearsal: it must do all that a start does, and then end. If the process that it is for
    # disappears, it ends at once, because it has the listeners open. Call it once.
    def self.rehearsal?
      parent, word = ENV.delete(REHEARSAL)&.split
      return false unless parent

      @rehearsed = word == ASKS ? ATTENTIVE : REHEARSED
      Thread.new do
        sleep LOOK while Process.ppid == parent.to_i
        exit!(1)
      end
      true
    end

    # The program was executed in the place of another one: notes signals from now on (Signals::Early).
    def self.begin_again
      Signals::Early.note(stopped: ENV.delete(STOPPED) == Process.pid.to_s)
    end

    class << self
      # The status with which a rehearsal ends that succeeded.
      attr_reader :rehearsed
    end

    # Notes how this process was started. Make it before anything changes that, such as the title. nil for a Ruby that
    # can't execute itself, and without a +command+. +report+ takes one line for the user, +directory+ is a Directory.
    # +command+ and +rehearsal+ are other command lines for a restart and its rehearsal, as Arrays.
    def self.noted(report:, directory:, command: command_line, rehearsal: command)
      new(command, rehearsal, directory, report) if command && Process.respond_to?(:fork)
    end

    # This process' command line, as an Array. If the system doesn't know it: this Ruby, the program, and ARGV or the
    # arguments that the block returns; nil if the block returns nil. Options of Ruby are missing then; RUBYOPT and
    # RUBYLIB still apply.
    def self.command_line
      words = system_words
      return words if words.length > 1

      arguments = block_given? ? yield : ARGV
      [RbConfig.ruby, $PROGRAM_NAME, *arguments] if arguments
    end

    # A process title replaces the command line, and is one word. Bundler gives one to the process of `bundle exec` when
    # it loads the program there, instead of executing it.
    def self.system_words
      File.read("/proc/self/cmdline").split("\0")
    rescue SystemCallError
      []
    end
    private_class_method :system_words

    def initialize(command, rehearsal, directory, report)
      @command = command
      @rehearsal = rehearsal
      @directory = directory
      @report = report
      @environment = ENV.to_h
    end

    # The listeners that the program inherits, the seconds that a rehearsal may take (nil: no limit), the PidFile,
    # whether output goes to files, and the Signals of this process.
    attr_writer :listeners, :limit, :pid_file, :files, :signals

    # Rehearses in the background. Calls the block if the program boots. If a rehearsal is under way already, does
    # nothing.
    def try(&block)
      return if @thread&.alive?

      @report.call("hot restart: trying the new program")
      @pid = rehearse(@listeners.copy)
      @thread = Thread.new(@pid) { |pid| judge(pid, &block) }
    rescue SystemCallError => error
      @report.call("hot restart: #{error.message}; continues as before")
    end

    # Ends a rehearsal that is under way.
    def abandon
      @abandoned = true
      Process.kill("KILL", @pid) if @thread&.alive?
    rescue Errno::ESRCH
      nil
    end

    # Copies the listeners, so that an engine that stops does not close the sockets that the program must inherit.
    def keep
      @listeners = @listeners.copy
    end

    # Calls the block, the hook before_restart. The new program also gets what it changes in ENV.
    def with_changes_to_env
      before = ENV.to_h
      yield
    ensure
      after = ENV.to_h
      @environment.merge!(after.reject { |name, value| before[name] == value })
      (before.keys - after.keys).each { |name| @environment.delete(name) }
    end

    # Whether the program stops if this process was told to stop.
    def passes_stop? = @passes_stop

    # Executes the program, with +variables+ added to its environment. Returns only if the system can't, and reports
    # that and +otherwise+, which says what happens then.
    def exec(variables = {}, otherwise: "continues as before")
      at_start do
        all = environment(EXECUTED => Process.pid.to_s, **stopped, **@listeners.inheritance, **variables)
        Notify.alive if Notify.watchdog # the program begins with the full time
        deaf { become(all) }
      end
    rescue SystemCallError => error
      @report.call("hot restart: #{error.message}; #{otherwise}")
    end

    private

    # Calls the block in the directory of the start, and comes back if it returns.
    def at_start
      present = directory
      Dir.chdir(@directory.start)
      yield
    ensure
      Dir.chdir(present) if present
    end

    # nil if it no longer exists.
    def directory
      Dir.pwd
    rescue SystemCallError
      nil
    end

    def stopped = @passes_stop && @signals.stop?(files: @files) ? { STOPPED => Process.pid.to_s } : {}

    # These signals would end the new program, which has no handlers for them in its first moments. Ignored signals stay
    # ignored over exec. (Blocked signals don't stay blocked, because Ruby unblocks all as it starts.)
    def deaf
      before = Signals.harmless(files: @files).to_h { |name| [name, trap(name, "IGNORE")] }
      yield
    ensure
      before.each { |name, handler| trap(name, handler) }
    end

    def become(variables)
      @pid_file.over_exec do |files|
        @listeners.keep_over_exec do
          Process.exec({ **variables, **files }, *program(@command), unsetenv_others: true)
        end
      end
    end

    def environment(added) = { **@directory.follow(@environment), **added }

    # The command is never run by a shell.
    def program(command)
      ruby, *words = @directory.follow_program(command)
      [[ruby, ruby], *words]
    end

    # The rehearsal's pid. It gets copies: a core that serves closes its own descriptors in each child.
    def rehearse(listeners)
      kept = listeners.sockets.to_h { |socket| [socket.fileno, socket.fileno] }
      all = environment(REHEARSAL => "#{Process.pid} #{ASKS}", **listeners.inheritance)
      spawn(all, *program(@rehearsal), **kept, chdir: @directory.start, unsetenv_others: true)
    ensure
      listeners.close_copies
    end

    def judge(pid)
      status = waited(pid)
      return if @abandoned

      @passes_stop = status.exitstatus == ATTENTIVE
      return yield if @passes_stop || status.exitstatus == REHEARSED

      @report.call("hot restart: the new program does not boot; continues as before")
    end

    def waited(pid)
      deadline = @limit && (Cuttle.now + @limit)
      until (_, status = Process.wait2(pid, Process::WNOHANG))
        deadline = end_late(pid) if deadline && Cuttle.now > deadline
        sleep 0.05
      end
      status
    end

    def end_late(pid)
      @report.call("hot restart: the new program was not loaded after #{@limit} s: killed")
      Process.kill("KILL", pid)
      nil
    end
  end
end

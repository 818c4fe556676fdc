# frozen_string_literal: true

module Bench
  # One run of one server process: started on a free port and a core of its own, probed until it answers as it
  # should, measured from outside, stopped by pid.
  #
  # A recipe says what to run. It answers
  #   name         what the tables call it
  #   version      of the server
  #   unavailable  nil, or why it can't be run here
  #   prepare      done once, before the first start
  #   command(port) => argv, env => Hash for the process (nil unsets), probe => [path, size of the body or nil]
  class Server
    class Failed < StandardError; end

    START_TIMEOUT = 60
    STOP_TIMEOUT = 10
    # What a Bundler or a gem directory of ours would change in the server's process. (A Gemfile of ours is out of its
  # sight too, for it runs in the system's temporary directory.)
    CLEAN = ENV.keys.grep(/\A(BUNDLE|RUBY|GEM)/).to_h { |name| [name, nil] }
               .merge("RACK_ENV" => "production", "RAILS_ENV" => "production").freeze

    attr_reader :port, :tree

    # Runs the block with a server that answers, and stops it whatever happens.
    def self.open(recipe, cores, log_directory)
      server = new(recipe, cores, log_directory)
      server.start
      yield server
    ensure
      server&.stop
    end

    def initialize(recipe, cores, log_directory)
      @recipe = recipe
      @cores = cores
      @port = Http.free_port
      @log = File.join(log_directory, "#{recipe.name.gsub(/[^\w.]+/, "-")}.log")
    end

    def start
      @pid = Process.spawn(CLEAN.merge(@recipe.env), *@cores.pin(@cores.server, @recipe.command(port)),
                           pgroup: true, chdir: Dir.tmpdir, in: File::NULL, out: @log, err: %i[child out])
      @tree = ProcessTree.new(@pid)
      wait_until_ready
    end

    # Asks politely, then kills whatever of it is left.
    def stop
      return unless @pid

      family = tree.pids
      signal(:TERM, [@pid])
      await_exit(STOP_TIMEOUT)
      signal(:KILL, family & tree.pids)
      await_exit(STOP_TIMEOUT)
      reap_orphans(family)
    end

    def get(path)
      Http.get(port, path)
    end

    private

    def wait_until_ready
      deadline = Clock.now + START_TIMEOUT
      begin
        raise Failed, "ended while starting: #{last_words}" if reaped?

        check(get(@recipe.probe.first))
      rescue Http::Failed => e
        raise Failed, "no answer within #{START_TIMEOUT} s (#{e.message}): #{last_words}" if Clock.now > deadline

        sleep 0.02
        retry
      end
    end

    # A server that is fast at answering something else is not measured.
    def check(response)
      path, size = @recipe.probe
      raise Failed, "answered #{response.status} to GET #{path}" unless response.status == 200
      return if size.nil? || response.body.bytesize == size

      raise Failed, "answered #{response.body.bytesize} octets to GET #{path} instead of #{size}"
    end

    def last_words
      File.readlines(@log).map(&:strip).grep(/\S/).last(2).join(" / ")[0, 300]
    end

    def reaped?
      @reaped ||= !Process.wait(@pid, Process::WNOHANG).nil?
    end

    def await_exit(timeout)
      deadline = Clock.now + timeout
      sleep 0.01 until reaped? || Clock.now > deadline
    end

    # Those that this process adopted (see ProcessTree.adopt_orphans) are waited for by it.
    def reap_orphans(family)
      (family - [@pid]).each do |pid|
        Process.wait(pid)
      rescue Errno::ECHILD # somebody else's child
        next
      end
    end

    def signal(name, pids)
      pids.each do |pid|
        Process.kill(name, pid)
      rescue Errno::ESRCH # it ended by itself
        next
      end
    end
  end
end

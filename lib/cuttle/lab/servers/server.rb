# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require "socket"
require "tmpdir"

module Cuttle
  module Lab
    module Servers
      # One run of one server, as processes of its own: started on its cores, asked until it answers, watched from
      # outside, and stopped by pid with all that belongs to it.
      class Server
        START_TIMEOUT = 60 # seconds
        COMPLETE_TIMEOUT = 5 # after the first answer; what is missing then, the proofs tell
        STOP_TIMEOUT = 10

        # Ruby's options for all servers alike, --yjit for one: the caller's, without our own bundle's.
        RUBYOPT = ENV["RUBYOPT"].to_s.split.grep_v(%r{\A-r\S*bundler/setup\z}).join(" ").freeze

        # What a Bundler or a gem directory of ours would change in the server's process.
        CLEAN = ENV.keys.grep(/\A(BUNDLE|GEM|RUBYLIB\z)/).to_h { |name| [name, nil] }
                   .merge("RUBYOPT" => RUBYOPT, "RACK_ENV" => "production", "RAILS_ENV" => "production").freeze

        attr_reader :setup, :tree, :boot

        # The last that a process said with +text+, on one line: of an exception its message, and not where it came from.
        def self.last_words(text, lines = 2)
          said = text.lines.map(&:strip).reject { |line| line.match?(/\A(from .+:\d+:in .*)?\z/) }
          said.last(lines).join(" / ")[0, 300]
        end

        # A server that answers. Raises Failure with the last that it said.
        def self.start(peer, setup)
          Load::Orphans.adopt # a server that makes daemons of its helpers does not lose them from its account
          new(peer, setup).tap(&:start)
        end

        def initialize(peer, setup)
          @peer = peer
          @setup = setup
        end

        def port
          setup.port
        end

        def url
          "http://127.0.0.1:#{port}/"
        end

        # Starts it, waits for its first answer (boot are the seconds until then), and for all of its processes.
        def start
          began = now
          @pid = Process.spawn(CLEAN.merge(@peer.environment(setup), setup.env || {}), *command,
                               pgroup: true, chdir: setup.directory || Dir.tmpdir,
                               in: File::NULL, out: setup.log, err: %i[child out])
          @tree = ProcessTree.new(@pid)
          wait_until_ready(began + START_TIMEOUT)
          @boot = now - began
          wait_until_complete(now + COMPLETE_TIMEOUT)
          up = true
        rescue SystemCallError => error
          raise Failure, "#{@peer.name} does not start: #{error.message}"
        ensure
          stop unless up # whatever it was that came between, an Interrupt too
        end

        # Whether each setting took effect: Proof each. The server must be running.
        def proof
          @peer.proofs(self)
        end

        def running?
          !ended?
        end

        # What it has printed.
        def output
          File.exist?(setup.log) ? File.read(setup.log).scrub : ""
        end

        # Asks it to end, then kills whatever of it is left; at once, where an Interrupt ends the waiting. Returns when
        # all of it has gone.
        def stop
          return unless @pid

          family = tree.pids
          begin
            signal(:TERM, [@pid])
            await_end
          ensure
            kill(family)
          end
        end

        private

        def kill(family)
          signal(:KILL, (family & tree.pids) | (ended? ? [] : [@pid]))
          await_end
          reap(family - [@pid])
        end

        def command
          cores = setup.cores ? ["taskset", "-c", setup.cores.join(",")] : []
          [*cores, *@peer.command(setup)]
        end

        def wait_until_ready(deadline)
          until Probe.answer?(port)
            raise Failure, "#{@peer.name} ended while it started: #{last_words}" if ended?
            raise Failure, "#{@peer.name} did not answer within #{START_TIMEOUT} s: #{last_words}" if now > deadline

            sleep 0.02
          end
        end

        def wait_until_complete(deadline)
          sleep 0.02 until @peer.complete?(self) || now > deadline || ended?
        end

        def last_words
          self.class.last_words(output)
        end

        def ended?
          @ended ||= !Process.wait(@pid, Process::WNOHANG).nil?
        end

        def await_end
          deadline = now + STOP_TIMEOUT
          sleep 0.01 until ended? || now > deadline
        end

        # Those of its processes that became ours (see Load::Orphans) are waited for by us.
        def reap(pids)
          pids.each do |pid|
            Process.wait(pid)
          rescue Errno::ECHILD
            next # not ours
          end
        end

        def signal(name, pids)
          pids.each do |pid|
            Process.kill(name, pid)
          rescue Errno::ESRCH
            next # it ended by itself
          end
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # Just enough of an HTTP client to see that a server is up, and whether it lets connections persist.
        module Probe
          PATIENCE = 10 # seconds

          Silent = Class.new(StandardError)

          module_function

          # Whether GET / is answered, with no server's error.
          def answer?(port)
            connect(port) { |socket| exchange(socket) < 500 }
          rescue SystemCallError, EOFError, Silent
            false
          end

          # How many of two requests are answered on one connection.
          def answers_on_one_connection(port)
            answers = 0
            connect(port) { |socket| 2.times { exchange(socket) && answers += 1 } }
            answers
          rescue SystemCallError, EOFError, Silent
            answers
          end

          def connect(port, &block)
            Socket.tcp("127.0.0.1", port, connect_timeout: PATIENCE, &block)
          end

          # Status of one GET, read to its end.
          def exchange(socket)
            socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            received = +""
            received << more(socket) until (head = received[/\A.*?\r\n\r\n/m])
            read_body(socket, head, received.byteslice(head.bytesize..))
            head[%r{\AHTTP/1\.[01] (\d{3})}, 1].to_i
          end

          def read_body(socket, head, body)
            if (length = head[/^content-length:\s*(\d+)/i, 1])
              body << more(socket) while body.bytesize < length.to_i
            elsif head.match?(/^transfer-encoding:\s*chunked/i)
              body << more(socket) until body.end_with?("0\r\n\r\n")
            end
          end

          def more(socket)
            socket.wait_readable(PATIENCE) or raise Silent
            socket.readpartial(65_536).b
          end
        end
      end
    end
  end
end

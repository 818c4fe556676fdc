# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require "socket"
require "tmpdir"

module Cuttle
  module Lab
    module Servers
      # One start of a server, in its own processes: started on its cores, polled until it answers, observed from
      # outside, and stopped with all its processes.
      class Server
        START_TIMEOUT = 180 # seconds; on a busy machine a JVM takes more than one minute
        FAILING_TIMEOUT = 20 # seconds of server errors, with which some servers start
        COMPLETE_TIMEOUT = 5 # seconds after the first answer; after that, the proofs show what is missing
        STOP_TIMEOUT = 10

        # Ruby options for all servers, such as --yjit: those of the caller, without the lab's own bundle.
        RUBYOPT = ENV["RUBYOPT"].to_s.split.grep_v(%r{\A-r\S*bundler/setup\z}).join(" ").freeze

        # Variables that keep the lab's Bundler and gem directory out of the server's process.
        CLEAN = ENV.keys.grep(/\A(BUNDLE|GEM|RUBYLIB\z)/).to_h { |name| [name, nil] }
                   .merge("RUBYOPT" => RUBYOPT, "RACK_ENV" => "production", "RAILS_ENV" => "production").freeze

        attr_reader :setup, :tree, :boot

        # The last lines of a process's output, on one line. For an exception: its message, not its backtrace.
        def self.last_words(text, lines = 2)
          said = text.lines.map(&:strip).grep_v(/\A(from .+:\d+:in .*)?\z/)
          said.last(lines).join(" / ")[0, 300]
        end

        # Starts a server and returns it when it answers. Raises Failure with the last lines of the server's output.
        # give_up: returns whether to wait no longer.
        def self.start(peer, setup, give_up: -> { false })
          Load::Orphans.adopt # processes that a server daemonizes still count as its own
          new(peer, setup, give_up: give_up).tap(&:start)
        end

        def initialize(peer, setup, give_up: -> { false })
          @peer = peer
          @setup = setup
          @give_up = give_up
        end

        def port
          setup.port
        end

        def url
          "http://127.0.0.1:#{port}/"
        end

        # Starts the server, and waits for its first answer (boot: seconds until then) and for all its processes.
        def start
          began = Cuttle.now
          @pid = Process.spawn(CLEAN.merge(@peer.environment(setup), setup.env || {}), *command,
                               pgroup: true, chdir: setup.directory || Dir.tmpdir,
                               in: File::NULL, out: setup.log, err: %i[child out])
          @tree = ProcessTree.new(@pid)
          wait_until_ready(began + START_TIMEOUT)
          @boot = Cuttle.now - began
          wait_until_complete(Cuttle.now + COMPLETE_TIMEOUT)
          up = true
        rescue SystemCallError => error
          raise Failure, "#{@peer.name} does not start: #{error.message}"
        ensure
          stop unless up # also after an Interrupt
        end

        # The Probe::Response to a GET on a new connection. Raises Failure.
        def get(path)
          Probe.connect(port) { |socket| Probe.exchange(socket, path) }
        rescue SystemCallError, EOFError, Probe::Silent => error
          raise Failure, "#{@peer.name} does not answer GET #{path}: #{error.message}"
        end

        # Checks that each setting took effect: an Array of Proof. The server must be running.
        def proof
          @peer.proofs(self)
        end

        def running?
          !ended?
        end

        # The server's output so far.
        def output
          File.exist?(setup.log) ? File.read(setup.log).scrub : ""
        end

        # Asks the server to end, and kills its remaining processes; after an Interrupt, immediately. Returns when all
        # have ended.
        def stop
          return unless @pid

          begin
            family = tree.pids
            signal(:TERM, [@pid])
            await_end
          ensure
            kill(family || tree.pids) # an Interrupt may come before they are known
          end
        end

        private

        def kill(family)
          signal(:KILL, (family & tree.pids) | (ended? ? [] : [@pid]))
          await_end
          reap(family - [@pid])
        end

        def command
          Machine::Cores.pinned(setup.cores, @peer.command(setup))
        end

        # Returns at the first answer that is no server error.
        def wait_until_ready(deadline)
          silence = Silence.new(tree, port)
          until (status = silence.observe { Probe.status(port) }).is_a?(Integer) && status < 500
            fail_if_waiting_is_over(deadline)
            fail_if_errors_go_on(status) if status.is_a?(Integer)
            fail_if_silence_goes_on(silence) if status == :silent
            sleep 0.02
          end
        end

        def fail_if_waiting_is_over(deadline)
          raise Failure, "#{@peer.name} ended while it started: #{last_words}" if ended?
          raise Failure, "#{@peer.name} was still starting when the lab was interrupted" if @give_up.call
          return unless Cuttle.now > deadline

          raise Failure, "#{@peer.name} did not answer within #{START_TIMEOUT} s: #{last_words}"
        end

        # Raises Failure if the app hangs.
        def fail_if_silence_goes_on(silence)
          fault = silence.fault or return
          raise Failure, "#{@peer.name} has not answered GET / for #{Silence::LIMIT} s and #{fault}: the app hangs"
        end

        # Raises Failure if the server errors go on, with what the server said since the first one.
        def fail_if_errors_go_on(status)
          since, length = @failing ||= [Cuttle.now, output.length]
          return if Cuttle.now < since + FAILING_TIMEOUT

          words = self.class.last_words(output[length..], 1)
          raise Failure, "#{@peer.name} answers GET / with status #{status}#{": #{words}" unless words.empty?}"
        end

        def wait_until_complete(deadline)
          sleep 0.02 until @peer.complete?(self) || Cuttle.now > deadline || ended?
        end

        def last_words
          self.class.last_words(output)
        end

        def ended?
          @ended ||= !Process.wait(@pid, Process::WNOHANG).nil?
        end

        def await_end
          deadline = Cuttle.now + STOP_TIMEOUT
          sleep 0.01 until ended? || Cuttle.now > deadline
        end

        # Reaps its processes that became children of this process (see Load::Orphans).
        def reap(pids)
          pids.each do |pid|
            Process.wait(pid)
          rescue Errno::ECHILD
            next # not a child of this process
          end
        end

        def signal(name, pids)
          pids.each do |pid|
            Process.kill(name, pid)
          rescue Errno::ESRCH
            next # the process has ended
          end
        end

        # A minimal HTTP client. It checks whether a server is up, what it answers, and whether connections persist.
        module Probe
          PATIENCE = 10 # seconds

          Silent = Class.new(StandardError)
          # head: as received, with the empty line.
          Response = Struct.new(:status, :head, :body)

          module_function

          # The status of the answer to GET /; :silent if a connection was possible, but no answer came; otherwise nil.
          def status(port)
            connect(port) { |socket| exchange(socket).status }
          rescue Silent
            :silent
          rescue SystemCallError, EOFError
            nil
          end

          # The number of two requests that are answered on one connection.
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

          # Sends one GET, reads the Response to its end and returns it.
          def exchange(socket, path = "/")
            socket.write("GET #{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            received = +""
            received << more(socket) until (head = received[/\A.*?\r\n\r\n/m])
            body = read_body(socket, head, received.byteslice(head.bytesize..))
            Response.new(head[%r{\AHTTP/1\.[01] (\d{3})}, 1].to_i, head, body)
          end

          def read_body(socket, head, body)
            if (length = head[/^content-length:\s*(\d+)/i, 1])
              body << more(socket) while body.bytesize < length.to_i
            elsif head.match?(/^transfer-encoding:\s*chunked/i)
              body << more(socket) until body.end_with?("0\r\n\r\n")
            end
            body
          end

          def more(socket)
            socket.wait_readable(PATIENCE) or raise Silent, "silent for #{PATIENCE} s"
            socket.readpartial(65_536).b
          end
        end
      end
    end
  end
end

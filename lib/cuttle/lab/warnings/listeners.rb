# frozen_string_literal: true

module Cuttle
  module Lab
    module Warnings
      # Ruby servers that listen already: those of a lab that was killed take time and memory from the next one, and in
      # a port's name they answer instead of the server that was meant.
      module Listeners
        LISTENING = "0A" # state in /proc/net/tcp
        STATE = 3
        INODE = 9
        SHOWN = 3

        module_function

        def warning(own: Process.pid)
          found = ruby_servers(own: own)
          return if found.empty?

          named = found.first(SHOWN).map { |pid, words| "#{pid} (#{words})" }
          Warning.new("listeners", "#{found.length} Ruby server#{"s" unless found.length == 1} already listening: " \
                                   "#{[*named, ("…" if found.length > SHOWN)].compact.join(", ")}",
                      "stop what is left of an earlier lab: kill #{found.keys.first(SHOWN).join(" ")}")
        end

        # Pid => its command line, shortened; not of this process, nor of its children: services of this lab.
        def ruby_servers(own: Process.pid)
          inodes = listening
          commands = Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).to_h { |pid| [pid, ruby(pid)] }
          commands.compact.reject { |pid, _| [pid, parent(pid)].include?(own) }.select { |pid, _| listens?(pid, inodes) }
        rescue SystemCallError
          {}
        end

        # Inodes of the sockets that listen.
        def listening
          %w[tcp tcp6].flat_map { |name| lines("/proc/net/#{name}") }.map(&:split)
                      .select { |fields| fields[STATE] == LISTENING }.map { |fields| fields[INODE] }
        end

        # The command line of a Ruby process; nil of another.
        def ruby(pid)
          words = File.read("/proc/#{pid}/cmdline").split("\0")
          return unless File.basename(File.readlink("/proc/#{pid}/exe")).match?(/\A(ruby|truffleruby|java)/)

          words.join(" ").split.join(" ")[0, 60]
        rescue SystemCallError
          nil
        end

        def parent(pid)
          File.read("/proc/#{pid}/stat").rpartition(")").last.split[1].to_i
        rescue SystemCallError
          nil
        end

        def listens?(pid, inodes)
          Dir["/proc/#{pid}/fd/*"].any? do |path|
            inodes.include?(File.readlink(path)[/\Asocket:\[(\d+)\]\z/, 1])
          rescue SystemCallError
            false
          end
        end

        def lines(path)
          File.readlines(path).drop(1)
        rescue SystemCallError
          []
        end
      end
    end
  end
end

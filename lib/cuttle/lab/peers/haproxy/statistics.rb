# frozen_string_literal: true

require "socket"

module Cuttle
  module Lab
    module Peers
      class Haproxy < Peer
        # What a running HAProxy says of itself on its control socket, asked once; nil where it says nothing.
        class Statistics
          # It has names for the algorithms that had one when it was written.
          NAMELESS = "unknown"

          # Whether what it calls an algorithm is the one that +wanted+ asks for.
          def self.means?(said, wanted)
            name = wanted[/\w+/]
            said == name || (said == NAMELESS && name == "random")
          end

          def initialize(control)
            @control = control
          end

          # The algorithm of the backend.
          def balance
            row = rows.find { |each| each["svname"] == "BACKEND" }
            row && row["algo"]
          end

          # How many servers the backend has that are not down.
          def up
            rows.count { |each| each["pxname"] == "servers" && each["svname"] != "BACKEND" && each["status"] != "DOWN" }
          end

          # Whether there is a cache.
          def cache?
            ask("show cache").to_s.include?("answers")
          end

          private

          def rows
            @rows ||= begin
              head, *lines = ask("show stat").to_s.lines.map { |line| line.chomp.split(",", -1) }
              names = head.to_a.map { |name| name.delete_prefix("# ") }
              lines.map { |values| names.zip(values).to_h }
            end
          end

          def ask(question)
            UNIXSocket.open(@control) do |socket|
              socket.puts question
              socket.read
            end
          rescue SystemCallError
            nil
          end
        end
      end
    end
  end
end

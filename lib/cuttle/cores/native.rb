# frozen_string_literal: true

require Cuttle::Cores.library

module Cuttle
  module Cores
    # The core in C (ext/cuttle).
    module Native
      Poller = Cuttle::Poller
      Acceptor = Cuttle::Acceptor
      Beneath = Cuttle::Beneath
      Scoreboard = Cuttle::Scoreboard
      Hijacked = Cuttle::Hijacked

      # The native parser is part of the core.
      def self.parser(name)
        Http::Parsers.fetch(name) unless name == "native"
      end

      # The class that secures connections, a library of its own; nil if it was not built.
      def self.tls
        require "cuttle/tls"
        Cuttle::Tls
      rescue LoadError
        nil
      end

      # Makes this process the parent of each descendant whose own parent ends. Returns whether the system can.
      def self.adopt_orphans
        Cuttle::Orphans.adopt
      end

      # Lets malloc make at most so many arenas, in this process and its children. Returns whether it is glibc's.
      def self.limit_arenas(count)
        Cuttle::Malloc.limit_arenas(count)
      end

      # Gives the pages of free memory back to the system. Returns whether malloc is glibc's.
      def self.trim_memory
        Cuttle::Malloc.trim
      end

      # Puts +file+ behind the descriptor of +stream+. Other threads may write meanwhile.
      def self.redirect(stream, file)
        Cuttle::Descriptors.replace(stream.fileno, file.fileno)
      end
    end
  end
end

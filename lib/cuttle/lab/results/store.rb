# frozen_string_literal: true

require "fileutils"
require "json"

module Cuttle
  module Lab
    class Results
      # The results file of a lab that is running: JSON objects, a line each.
      #
      # The law: what append returned from is on the disk, and the file holds whole lines only, whatever ends the lab. A
      # line that a crash tore is cut off on resume; one that did not fit the disk is taken back. One lab at a time may
      # write (a lock says so).
      class Store
        FILE = "results.jsonl"

        attr_reader :path

        # Begins the results of a lab in +directory+, which is made. +header+: the first line, type "lab". Raises Failure.
        def self.create(directory, header)
          at(directory) do |path|
            raise Failure, "#{path} is there already: resume it, or choose another directory" if File.exist?(path)

            FileUtils.mkdir_p(directory)
            new(path, File::CREAT | File::EXCL).tap { |store| begin_with(header, store, directory) }
          end
        end

        # Goes on in +directory+ after the last whole line. Raises Failure.
        def self.resume(directory)
          at(directory) do |path|
            raise Failure, "no results to resume in #{directory}: #{FILE} is missing" unless File.file?(path)

            Results.read(directory) # that they are a lab's
            new(path, 0).tap(&:mend)
          end
        end

        def self.at(directory)
          path = File.join(directory, FILE)
          yield path
        rescue SystemCallError => e
          raise Failure, "can't write #{path}: #{Load.reason(e)}"
        end

        # A file without a header would be in the way of the next try.
        def self.begin_with(header, store, directory)
          store.append(header)
          sync(directory)
        rescue Failure
          store.close
          File.delete(store.path)
          raise
        end

        # A new name is safe only when its directory is; some file systems can't be asked.
        def self.sync(directory)
          File.open(directory, &:fsync)
        rescue SystemCallError
          nil
        end

        private_class_method :new, :at, :begin_with, :sync

        def initialize(path, mode)
          @path = path
          @file = File.open(path, File::RDWR | File::APPEND | File::BINARY | mode, 0o644)
          return if @file.flock(File::LOCK_EX | File::LOCK_NB)

          @file.close
          raise Failure, "another lab is writing to #{path}"
        end

        # Adds +hash+ as a line. Raises Failure where it can't be written; then nothing of it is in the file.
        def append(hash)
          line = "#{JSON.generate(Plain.of(hash))}\n".b
          kept = @file.size
          write(line)
          @file.fsync
          self
        rescue SystemCallError => e
          take_back(kept) if kept
          raise Failure, "can't write #{path}: #{Load.reason(e)}; what was measured before is kept, and can be resumed"
        end

        # Cuts off a line that was torn; one that lacks its end only gets that.
        def mend
          @file.rewind
          content = @file.read
          return if content.empty? || content.end_with?("\n")

          start = (content.rindex("\n") || -1) + 1
          whole?(content.byteslice(start..)) ? write("\n") : @file.truncate(start)
          @file.fsync
        end

        def close
          @file.close
        end

        private

        # Past Ruby's buffer, which would try again later what the disk refused.
        def write(octets)
          octets = octets.byteslice(@file.syswrite(octets)..) until octets.empty?
        end

        def take_back(size)
          @file.truncate(size)
          @file.fsync
        rescue SystemCallError
          nil # a reader skips the torn line
        end

        def whole?(line)
          JSON.parse(line.force_encoding(Encoding::UTF_8)).is_a?(Hash)
        rescue JSON::ParserError
          false
        end

        # Values as JSON can hold them, so that no measurement is lost to one of its parts: numbers that are none become
        # null, and octets that are no UTF-8 (the last words of a server) are marked.
        module Plain
          module_function

          def of(value)
            case value
            when Hash then value.to_h { |key, each| [text(key.to_s), of(each)] }
            when Array then value.map { |each| of(each) }
            when Float then value.finite? ? value : nil
            when String, Symbol then text(value.to_s)
            when Integer, true, false, nil then value
            else value.respond_to?(:to_h) ? of(value.to_h) : text(value.to_s)
            end
          end

          def text(string)
            return string.dup.force_encoding(Encoding::UTF_8).scrub if string.encoding == Encoding::BINARY

            string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
          end
        end
        private_constant :Plain
      end
    end
  end
end

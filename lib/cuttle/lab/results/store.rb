# frozen_string_literal: true

require "fileutils"
require "json"

module Cuttle
  module Lab
    class Results
      # Writes the results file of a running lab: JSON objects, one on each line.
      #
      # Rule: when #append has returned, its line is on the disk. The file contains only whole lines, however the lab
      # ends. Resuming cuts off a line that a crash tore. A line that does not fit on the disk is removed. A lock keeps
      # a second lab from writing.
      class Store
        FILE = "results.jsonl"

        attr_reader :path

        # Creates +directory+ and the file. +header+: the first line, of type "lab". Raises Failure.
        def self.create(directory, header)
          at(directory) do |path|
            raise Failure, "#{path} already exists: resume it, or choose another directory" if File.exist?(path)

            FileUtils.mkdir_p(directory)
            new(path, File::CREAT | File::EXCL).tap { |store| begin_with(header, store, directory) }
          end
        end

        # Opens the results in +directory+ to append to them. Raises Failure.
        def self.resume(directory)
          at(directory) do |path|
            raise Failure, "no results to resume in #{directory}: #{FILE} is missing" unless File.file?(path)

            Results.read(directory) # raises unless it is a lab's file
            new(path, 0).tap(&:mend)
          end
        end

        def self.at(directory)
          path = File.join(directory, FILE)
          yield path
        rescue SystemCallError => error
          raise Failure, "can't write #{path}: #{Load.reason(error)}"
        end

        # Deletes a file without a header, which would block the next attempt.
        def self.begin_with(header, store, directory)
          store.append(header)
          sync(directory)
        rescue Failure
          store.close
          File.delete(store.path)
          raise
        end

        # Makes the new name durable. That takes an fsync of the directory, which some file systems don't support.
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

        # Appends +hash+ as a line. Raises Failure if it can't be written; the file is unchanged then.
        def append(hash)
          line = "#{JSON.generate(Plain.of(hash))}\n".b
          kept = @file.size
          write(line)
          @file.fsync
          self
        rescue SystemCallError => error
          take_back(kept) if kept
          raise Failure,
                "can't write #{path}: #{Load.reason(error)}; earlier runs are kept, and the lab can be resumed"
        end

        # Cuts off a torn line, or completes a line that only lacks its end.
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

        # Bypasses Ruby's buffer, which would later write again what the disk refused.
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

        # Converts values to JSON's types, so that an odd value can't lose a measurement. Infinite numbers become null.
        # Octets that are not UTF-8 (in a server's output) are replaced.
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

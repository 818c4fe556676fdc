# frozen_string_literal: true

require "fileutils"
require "json"
require "time"

module Cuttle
  module Tuner
    # The directory of a tune: its options, and all of its results so far.
    #
    #   tune.json             the options, and the app's Sources, for --resume
    #   mix.jsonl             the requests, unless each is a GET of one path
    #   profile.json          the profile, with the corrections of the verification
    #   verification/ID/      the lab's results
    #   advice.json           the answer
    #   report.html           the same as a page
    class Folder
      STATE = "tune.json"
      SCHEMA = "cuttle-tune/1"
      PARTIAL = "profile-partial.json"
      MIX = "mix.jsonl"
      KEPT = Options::DEFAULTS.keys - %i[directory requests] # the options that are kept

      attr_reader :path

      # Creates a folder for these Options. Its name is the time. Raises Failure.
      def self.create(options)
        name = Time.now.strftime("%Y%m%d-%H%M%S")
        FileUtils.mkdir_p(options.directory)
        path = [name, *("#{name}-2".."#{name}-9")].map { |each| File.join(options.directory, each) }
                                                  .find { |each| make(each) }
        raise Failure, "#{options.directory}: too many tunes in one second" unless path

        new(path).tap { |folder| folder.begin_with(options) }
      rescue SystemCallError => error
        raise Failure, "can't write #{options.directory}: #{Load.reason(error)}"
      end

      def self.make(path)
        Dir.mkdir(path)
      rescue Errno::EEXIST
        false
      end

      private_class_method :make

      # The newest folder below +directory+ that contains +file+, or nil.
      def self.latest(directory, file)
        Dir[File.join(directory, "*", file)].max_by { |path| File.mtime(path) }&.then { |path| new(File.dirname(path)) }
      end

      def initialize(path)
        @path = path
      end

      def id
        File.basename(File.expand_path(path))
      end

      def at(name)
        File.join(path, name)
      end

      def there?(name)
        File.exist?(at(name))
      end

      # Writes the options, and the requests to a file of their own.
      def begin_with(options)
        requests = options.requests || (options.mix && Load::Mix.read(options.mix)) # the file may change meanwhile
        mix = requests && Requests.write(requests, at(MIX))
        values = KEPT.to_h { |name| [name.to_s, options.public_send(name)] }
        write(STATE, { "schema" => SCHEMA, "started_at" => Time.now.utc.iso8601(3), **values,
                       "mix" => mix && File.expand_path(mix), "limits" => options.limits.to_h.compact,
                       "present" => options.present&.to_h, "sources" => Sources.of(options) })
      end

      # Raises Failure if the app or the Ruby has changed since the folder was created.
      def refuse_changes
        before = state["sources"] or return # of an earlier version
        changed = Sources.changes(before, options)
        return if changed.empty?

        raise Failure, "can't resume in #{path}: #{changed.join(", ")} changed since this tune began, and results of " \
                       "both can't be combined. Begin again: #{Report::Words.command(options)}"
      end

      # The Options that the folder was created with. Raises Failure.
      def options
        given = state.slice(*KEPT.map(&:to_s)).transform_keys(&:to_sym)
        Options.new(**given, limits: Limits.new(**symbols(given[:limits])), cpus: symbols(given[:cpus]),
                             present: given[:present] && Setting.new(**symbols(given[:present])),
                             directory: File.dirname(path))
      rescue TypeError, ArgumentError, NoMethodError
        raise stranger
      end

      # The lab's results of the verifications, in their order.
      def verifications
        paths = Dir[at("verification/*/#{Lab::Results::Store::FILE}")]
        paths.map { |path| File.dirname(path) }.sort.map { |directory| Lab::Results.read(directory) }
      end

      # Those of the last one, or nil.
      def verification
        verifications.last
      end

      def write(name, value)
        File.write("#{at(name)}.new", value.is_a?(String) ? value : "#{JSON.pretty_generate(value)}\n")
        File.rename("#{at(name)}.new", at(name)) # a reader always sees a whole file
        at(name)
      rescue SystemCallError => error
        raise Failure, "can't write #{at(name)}: #{Load.reason(error)}"
      end

      private

      # What #begin_with wrote.
      def state
        state = JSON.parse(File.read(at(STATE)))
        state.is_a?(Hash) && state["schema"] == SCHEMA ? state : raise(stranger)
      rescue Errno::ENOENT
        raise Failure, "can't resume in #{path}: #{STATE} is missing"
      rescue SystemCallError => error
        raise Failure, "can't resume in #{path}: #{Load.reason(error)}"
      rescue JSON::ParserError
        raise stranger
      end

      def stranger
        Failure.new("#{at(STATE)}: not written by cuttle tune")
      end

      def symbols(hash)
        hash.to_h.transform_keys(&:to_sym)
      end
    end
  end
end

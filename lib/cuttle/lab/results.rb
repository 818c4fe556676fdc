# frozen_string_literal: true

require "json"

module Cuttle
  module Lab
    # Reads the results of a lab, complete or not. Frozen.
    class Results
      autoload :Lines, "cuttle/lab/results/lines"
      autoload :Shape, "cuttle/lab/results/lines"
      autoload :Store, "cuttle/lab/results/store"
      %i[Record Configuration LoadSpec LeftOut Run RunFailure Missing Warning].each do |kind|
        autoload kind, "cuttle/lab/results/records"
      end

      SCHEMA = "cuttle-lab/1"
      OF_ROUNDS = %w[run failure].freeze # the types of lines that don't count once their round is measured again

      # A line that could not be read: its number, and the reason.
      Damage = Struct.new(:line, :reason)

      # Reads a directory, or its results file. Raises Failure if there is none, or if the header can't be read. Any
      # other line that can't be read is left out and listed in damages.
      def self.read(directory)
        path = File.directory?(directory) ? File.join(directory, Store::FILE) : directory
        lines = Lines.read(path)
        new(lines, path)
      rescue Errno::ENOENT
        raise Failure, "no results in #{directory}: #{Store::FILE} is missing"
      rescue SystemCallError => error
        raise Failure, "can't read #{path}: #{Load.reason(error)}"
      end

      attr_reader :path, :header, :configurations, :loads, :missing, :left_out, :failures, :warnings, :damages

      def initialize(lines, path)
        @path = path
        @header = lines.header
        @configurations, @loads = of(Configuration, header["configurations"]), of(LoadSpec, header["loads"])
        @by_id = [@configurations, @loads].map { |records| records.reverse.to_h { |each| [each.id, each] }.freeze }
        sort(lines)
        @damages = lines.damages.sort_by(&:line).freeze
        freeze
      end

      %w[id command app environment cut seed rounds duration warmup schema started_at pairs].each do |key|
        define_method(key) { header[key] }
      end

      # What was equal for all configurations and what was not: [{ "what", "same", "detail" }]. The entry for the
      # backlog includes the sizes that were found on the servers.
      def fairness
        found = backlogs
        (header["fairness"] || []).map do |entry|
          next entry if entry["what"] != "backlog" || found.empty?

          seen = found.map { |number, servers| "#{number} at #{servers.join(", ")}" }.join("; ")
          entry.merge("same" => found.length == 1, "detail" => "#{entry["detail"]}. Found: #{seen}")
        end
      end

      def directory
        File.dirname(path)
      end

      # The runs in the order of their execution. With arguments: those of one configuration or one load. Takes ids or
      # the records themselves.
      def runs(configuration: nil, load: nil)
        configuration, load = [configuration, load].map { |each| each.respond_to?(:id) ? each.id : each }
        return @by_pair.fetch([configuration, load], []) if configuration && load

        @runs.select do |run|
          (configuration.nil? || run.configuration == configuration) && (load.nil? || run.load == load)
        end
      end

      # The number of rounds that have begun; before the first run, the planned number.
      def rounds_run
        runs.map(&:block).max&.succ || rounds.to_i
      end

      # Whether there is a run of these ids in that round.
      def run?(configuration, load, round)
        @keys.key?([configuration, load, round])
      end

      def configuration(id)
        @by_id.first[id]
      end

      def load(id)
        @by_id.last[id]
      end

      # Whether the lab stopped before its end.
      def interrupted?
        @interrupted
      end

      # Whether it stopped only because its time was over, and is to be continued.
      def paused?
        @paused
      end

      private

      def sort(lines)
        records = standing(lines.records).group_by { |record| record["type"] }
        @keys = keep(records.fetch("run", []), lines).freeze
        @runs = @keys.values.freeze
        @by_pair = @runs.group_by { |run| [run.configuration, run.load] }.each_value(&:freeze).freeze
        @missing = of(Missing, records["missing"]).reject { |each| runs(configuration: each.configuration).any? }.freeze
        @left_out = of(LeftOut, records["left_out"])
        @failures = of(RunFailure, records["failure"])
        @warnings = of(Warning, records["warning"])
        last = lines.records.last
        @interrupted = last&.fetch("type") != "end" || last["interrupted"] != false
        @paused = last&.fetch("paused", nil) == true
      end

      # Without what was measured of a round before the round was measured again.
      def standing(records)
        again = records.select { |record| record["type"] == "again" }.to_h { |record| [record["block"], record] }
        records.reject do |record|
          again.delete(record["block"]) if record.equal?(again[record["block"]])
          OF_ROUNDS.include?(record["type"]) && again.key?(record["block"])
        end
      end

      # The runs by their keys. If there are two with the same key, the later one counts.
      def keep(records, lines)
        records.each_with_object({}) do |hash, runs|
          reason = Shape.damage(hash) || stranger(hash)
          next lines.damaged(hash, "a run #{reason}") if reason

          run = Run.new(hash)
          runs[run.key] = run
        end
      end

      # Size of the backlog => names of the servers whose listening sockets have it.
      def backlogs
        seen = runs.flat_map do |run|
          numbers = (run.proof || []).select { |proof| proof["setting"] == "backlog" }.map { |proof| proof["found"] }
          numbers.grep(Integer).product([configuration(run.configuration).server])
        end
        seen.uniq.sort.group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
      end

      def stranger(hash)
        return "of an unknown configuration" unless configuration(hash["configuration"])

        "of an unknown load" unless load(hash["load"])
      end

      def of(kind, hashes)
        (hashes || []).map { |hash| kind.new(hash) }.uniq.freeze
      end
    end
  end
end

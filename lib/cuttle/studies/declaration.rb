# frozen_string_literal: true

module Cuttle
  module Studies
    # Reads studies/NAME/study.rb, the declaration of a study:
    #
    #   title "…"; source "…"; question "…"; design "…"; flaw "…"
    #   app "work"
    #   published "file.csv", only: /\As0/ do |row|      # how a published row is measured
    #     serve like: "puma", engine: "hybrid", workers: 4, threads: 16, original: "puma"
    #     ask work(cpu_ms: 50, iowait_ms: 250), connections: row.number("concurrency"), requests: 500
    #   end
    #   claim "s0.8", "more than four processes" => [rate("s0.8"), rate("s0.7"), 1..]
    #   untestable "s1.6", "it needs 8 cores"
    #
    # Rows that were not published:
    #
    #   trial "q1", cv: 2 do |row|                       # identified by its id and its columns
    #     serve engine: "hybrid", threads: 5
    #     ask work(cpu_ms: 5, iowait_ms: 20, cv: 2), connections: 20
    #   end
    #   expect "q1", "uneven times lengthen the tail", "p99 by even ones" => [p99("q1", cv: 2), p99("q1", cv: 0), 1.2..]
    class Declaration
      ROUNDS = 5
      WARMUP = 0.4

      # Raises Failure.
      def self.read(path)
        declaration = new(File.basename(File.dirname(path)), File.expand_path("../..", path))
        declaration.instance_eval(File.read(path), path)
        declaration.to_study
      rescue SystemCallError => error
        raise Failure, "#{path}: #{Load.reason(error)}"
      rescue SyntaxError, NameError, ArgumentError, TypeError => error
        raise Failure, "#{path}: #{error.message.lines.first.chomp}"
      end

      def initialize(name, root)
        @root = root
        @texts = { name: name, title: name, source: nil, question: nil, design: nil }
        @settings = { app: "work", profile: {}, cores: nil, rounds: ROUNDS, warmup: WARMUP,
                      full_length: false, repeated: nil, deciding: nil }
        @flaws = []
        @entries = []
        @claims = []
      end

      %i[title source question design].each do |name|
        define_method(name) { |text| @texts[name] = text.gsub(/\s+/, " ").strip }
      end

      %i[cores rounds warmup].each { |name| define_method(name) { |value| @settings[name] = value } }

      # A scale doesn't shorten the study: what it shows depends on the length of requests.
      def full_length
        @settings[:full_length] = true
      end

      # The figure of the A/A control, one that the claims rest on. Without it, the control is the rate of the first
      # condition.
      def control(figure)
        @settings[:repeated] = figure
      end

      # An app of the lab by name, or a file of studies/apps. profile: as in the lab.
      def app(name, profile: {})
        @settings.update(app: name.end_with?(".ru") ? "#{@root}/apps/#{name}" : name, profile: profile)
      end

      def flaw(text)
        @flaws << text.gsub(/\s+/, " ").strip
      end

      # only: a pattern of ids.
      def published(file, only: //, &block)
        rows = Published.rows(file, @root).select { |row| row.id.match?(only) }
        raise Failure, "#{file}: no row is #{only.inspect}" if rows.empty?

        rows.each { |row| @entries << Procedure.new(row, block).entry(row) }
      end

      # A row of this project, which was not published.
      def trial(id, **columns, &block)
        row = Published::Row.new(nil, nil, { "id" => id, **columns.to_h { |name, value| [name.to_s, value.to_s] } })
        @entries << Procedure.new(row, block).entry(row)
      end

      Metric.names.each do |metric|
        define_method(metric) { |id, columns = {}| Claim::Figure.new(metric, id, columns) }
      end

      # For a statement on the distance between two measurements of the same thing: the larger divided by the smaller in
      # each round. A single figure is compared from each round to the next.
      def apart(figure, other = figure, range)
        [figure, other, range, true]
      end

      # For a statement that needs more server cores than the other statements of its claim.
      def on_cores(number, figure, other, range)
        [figure, other, range, nil, number]
      end

      # A published claim. statements: text => [a figure, a figure or number to divide by, range of the ratio]. cores:
      # number of server cores that it needs. on: :ours or :originals, if it is only about that side. about: a server
      # that is not available, if the claim is about it.
      def claim(id, cores: 1, on: nil, about: nil, **statements)
        @claims << Claim.new(id, sentence(id), statements: listed(statements), cores: cores, on: on, about: about,
                                               published: true)
      end

      # A claim of this project.
      def expect(id, sentence, cores: 1, on: nil, **statements)
        @claims << Claim.new(id, sentence, statements: listed(statements), cores: cores, on: on)
      end

      def untestable(id, reason)
        @claims << Claim.new(id, sentence(id), reason: reason, published: true)
      end

      # Raises Failure.
      def to_study
        study = Study.new(**@texts, **@settings, flaws: @flaws, entries: @entries, claims: @claims)
        claim, figure = study.unmeasured.first
        raise Failure, "#{study.name}: claim #{claim.id} is about #{figure}, which is not measured" if claim

        study
      end

      private

      def sentence(id)
        @sentences ||= Published.claims(@root)
        @sentences.fetch(id) { raise Failure, "#{@texts[:name]}: claims.csv has no #{id}" }
      end

      def listed(statements)
        statements.map { |text, parts| Claim::Statement.new(text, *parts) }
      end
    end
  end
end

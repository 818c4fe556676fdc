# frozen_string_literal: true

module Cuttle
  module Studies
    # Reads studies/NAME/study.rb, which says what a study is:
    #
    #   title "…"; source "…"; question "…"; design "…"; flaw "…"
    #   app "work"
    #   published "file.csv", only: /\As0/ do |row|      # how a published row is measured
    #     serve like: "puma", engine: "hybrid", workers: 4, threads: 16, original: "puma"
    #     ask work(cpu_ms: 50, iowait_ms: 250), connections: row.number("concurrency"), requests: 500
    #   end
    #   claim "s0.8", "more than four processes" => [rate("s0.8"), rate("s0.7"), 1..]
    #   untestable "s1.6", "it takes 8 cores"
    class Declaration
      ROUNDS = 3
      WARMUP = 0.4
      REQUESTS = 1000 # where the publication doesn't say

      # How one row is measured: what the block of `published` says.
      class Measured
        attr_reader :row, :cells, :reason

        def initialize(row, block)
          @row = row
          @servers = []
          @loads = []
          instance_exec(row, &block)
          raise Failure, "#{row.file}, line #{row.line}: neither serve and ask nor skip" unless reason || cells.any?
        end

        # like: a server whose model and habits ours takes on; engine: the model that is. original: that server itself,
        # as the lab knows it ("thin:threaded"); nil where it can't be had any more.
        def serve(engine:, like: nil, workers: 0, threads: 1, keep_alive: false, original: nil, environment: nil)
          numbers = { workers: workers, threads: threads, keep_alive: keep_alive, environment: environment }
          @servers << { server: "cuttle", model: engine, like: like, **numbers }
          return unless original

          server, model = original.split(":", 2)
          @servers << { server: server, model: model, like: nil, **numbers }
        end

        # What is asked for, by that many at once.
        def ask(request, connections:, requests: nil)
          @loads << { request: request, connections: connections, requests: requests || REQUESTS }
        end

        # Why it isn't measured.
        def skip(reason)
          @reason = reason
        end

        def work(parameters)
          Request.work(parameters)
        end

        def get(path, parameters = {})
          Request.work(parameters, path: path)
        end

        def cells
          @servers.product(@loads).map { |server, load| Cell.new(**server, **load) }
        end
      end

      # Raises Failure.
      def self.read(path)
        declaration = new(File.basename(File.dirname(path)), File.expand_path("../..", path))
        declaration.instance_eval(File.read(path), path)
        declaration.to_study
      rescue SystemCallError => error
        raise Failure, "#{path}: #{Load.reason(error)}"
      end

      def initialize(name, root)
        @root = root
        @texts = { name: name, title: name, source: nil, question: nil, design: nil }
        @settings = { app: "work", cpus: {}, rounds: ROUNDS, warmup: WARMUP }
        @flaws = []
        @entries = []
        @claims = []
      end

      %i[title source question design].each do |name|
        define_method(name) { |text| @texts[name] = text.gsub(/\s+/, " ").strip }
      end

      %i[cpus rounds warmup].each { |name| define_method(name) { |value| @settings[name] = value } }

      # One of the lab's by its name, or a file of studies/apps.
      def app(name)
        @settings[:app] = name.end_with?(".ru") ? "#{@root}/apps/#{name}" : name
      end

      def flaw(text)
        @flaws << text.gsub(/\s+/, " ").strip
      end

      # only: a pattern of ids.
      def published(file, only: //, &block)
        rows = Published.rows(file, @root).select { |row| row.id.match?(only) }
        raise Failure, "#{file}: no row is #{only.inspect}" if rows.empty?

        rows.each do |row|
          measured = Measured.new(row, block)
          @entries << Study::Entry.new(row, measured.reason ? [] : measured.cells, measured.reason)
        end
      end

      Published::METRICS.each_value do |metric|
        define_method(metric) { |id, columns = {}| Claim::Figure.new(metric, id, columns) }
      end

      # statements: what is said => [a figure, by a figure, range of their ratio]. cores: that the servers must have, or
      # it says nothing.
      def claim(id, cores: 1, **statements)
        list = statements.map { |text, (above, below, range)| Claim::Statement.new(text, above, below, range) }
        @claims << Claim.new(id, sentence(id), statements: list, cores: cores)
      end

      def untestable(id, reason)
        @claims << Claim.new(id, sentence(id), reason: reason)
      end

      def to_study
        Study.new(**@texts, **@settings, flaws: @flaws, entries: @entries, claims: checked)
      end

      private

      def sentence(id)
        @sentences ||= Published.claims(@root)
        @sentences.fetch(id) { raise Failure, "#{@texts[:name]}: claims.csv has no #{id}" }
      end

      # A claim about what isn't measured would stay undecided for ever.
      def checked
        study = Study.new(**@texts, **@settings, flaws: @flaws, entries: @entries, claims: [])
        @claims.each do |claim|
          claim.statements.flat_map { |each| [each.above, each.below] }.each do |figure|
            next if study.entries_of(figure.id, figure.columns).any? { |entry| entry.cells.any? }

            raise Failure, "#{@texts[:name]}: claim #{claim.id} is about #{figure}, which is not measured"
          end
        end
      end
    end
  end
end

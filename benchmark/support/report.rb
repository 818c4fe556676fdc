# frozen_string_literal: true

module Bench
  # The report of a benchmark: a table of the subjects, the figures to reach, and the reasons to doubt the results.
  class Report
    NOTE = "benchmark" # its key in the header of the lab's results
    # From this share of its core on, the load generator may have been the limit, not the server.
    SATURATED = 0.95
    FEW_ROUNDS = 5
    # A server's output may name files of this machine, which readers of a document don't have. A document leaves out
    # the first one, and the rest of its line.
    PRINTED = %r{:? /\w.*}

    # The directories of the newest results of these benchmarks, or of all that were measured.
    def self.newest(*names)
      names = Dir.children(RESULTS).sort if names.empty? && Dir.exist?(RESULTS)
      names.filter_map { |name| Dir["#{RESULTS}/#{name}/*/#{Lab::Results::Store::FILE}"].max }
           .map { |path| File.dirname(path) }
    end

    # "at most 1.2": the bound of a figure.
    def self.bound(figure) = "#{figure["sense"].tr("_", " ")} #{figure["bound"]}"

    # lab: a Lab::Results.
    def initialize(lab)
      @lab = lab
      @note = lab.header[NOTE] or raise Lab::Failure, "#{lab.path}: a lab, but not of a benchmark"
      @view = Lab::Report::View.new(lab, Lab::Analysis.new(lab))
      @results = Results.new(lab)
    end

    # For a terminal: with aligned columns.
    def text
      aligned = Cuttle::Report::Columns.align(table, left: [0, table.first.length - 1])
      [@note["title"], aligned, figures, remarks, "recorded in #{@lab.directory}"].reject(&:empty?).join("\n\n")
    end

    # For a Document, without a heading.
    def markdown
      heading, *rows = table.map { |cells| "| #{cells.join(" | ")} |" }
      rule = "|---|#{"---:|" * (table.first.size - 2)}---|"
      [@note["title"], [heading, rule, *rows].join("\n"), figures.gsub(/^(?=.)/, "- "), procedure, machine,
       remarks.gsub(/^! /, "- ").gsub(PRINTED, "")].reject(&:empty?).join("\n\n")
    end

    def name
      @note["name"]
    end

    # The checkout that was measured: a commit, with "+" if files had changed since.
    def commit
      @note["commit"]
    end

    # A Picture, or nil.
    def picture
      return unless name == Picture::OF

      picture = Picture.new(@lab)
      picture unless picture.empty?
    end

    private

    def procedure
      "`#{@lab.command.shelljoin}`: #{@view.scope.join(", ")}; interleaved; medians."
    end

    # The machine, in one line.
    def machine
      facts = { "date" => @lab.started_at[0, 10], **@lab.environment.slice("cpu", "cores", "system", "kernel", "ruby"),
                **@note.slice("wrk", "gcc") }
      facts.compact.map { |name, value| "#{name}: #{value}" }.join("; ")
    end

    def table
      @table ||= begin
        columns = @note["columns"].map { |name| Columns.fetch(name) }
        rows = measured.map do |each|
          [title(each), *columns.map { |column| column.text(@results, each.name, each.base) }, notes(each)]
        end
        [["server", *columns.map(&:heading), "notes"], *rows]
      end
    end

    # The lab's configurations that have runs.
    def measured
      @lab.configurations.select { |each| @results.runs(each.name).any? }
    end

    def title(subject)
      version = subject.server == "cuttle" ? @note["commit"] : subject.version
      version ? "#{subject.name} (#{version})" : subject.name
    end

    def notes(subject)
      errors = @results.errors(subject.name)
      base = "base: #{subject.base}" if subject.base && subject.base != @lab.configurations.first.base
      [base, ("ERRORS: #{errors.map { |kind, count| "#{count} #{kind}" }.join(", ")}" if errors.any?),
       ("load at its limit" if @results.median(subject.name, "load_cpu").to_f > SATURATED)].compact.join("; ")
    end

    def figures
      values = @note["figures"].map { |figure| [figure, @results.value(figure)] }
      known, unknown = values.partition(&:last)
      lines = known.map { |figure, value| verdict(figure, value) }
      lines << "not measured: #{unknown.size} figures: a server did not run, or in one round only" if unknown.any?
      lines.join("\n")
    end

    def verdict(figure, value)
      sense, bound = figure.values_at("sense", "bound")
      reached = sense == "at_least" ? value >= bound : value <= bound
      "#{reached ? "reached" : "NOT reached"}: #{figure["text"]}: #{value.round(3)} (#{Report.bound(figure)})"
    end

    # What a reader should doubt: the lab's warnings, and what it could not measure.
    def remarks
      few = "Only #{@lab.rounds} of the #{FEW_ROUNDS} rounds that a published figure needs." if @lab.rounds < FEW_ROUNDS
      [few, Lab::Report::Text.troubles(@view)].compact.join("\n")
    end
  end
end

# frozen_string_literal: true

module Bench
  # A journal told to people: a table of the subjects, the figures that were to be reached, and what to doubt.
  class Report
    # Share of the two cores that others may have had before a run counts as disturbed.
    DISTURBED = 0.05
    # Share of its core from which on the load's generator, not the server, may have been the limit.
    SATURATED = 0.95
    FEW_ROUNDS = 5

    def initialize(journal)
      @journal = journal
      @results = Results.new(journal)
    end

    # For a terminal: columns lined up.
    def text
      [@journal.benchmark[:title], align(table), figures, remarks, "recorded in #{@journal.path}"].reject(&:empty?).join("\n\n")
    end

    # For docs/performance.md.
    def markdown
      heading, *rows = table.map { |cells| "| #{cells.join(" | ")} |" }
      rule = "|---|#{"---:|" * (table.first.size - 2)}---|"
      ["### #{@journal.benchmark[:name]}", @journal.benchmark[:title], [heading, rule, *rows].join("\n"),
       figures.gsub(/^/, "- "), conditions, remarks].reject(&:empty?).join("\n\n")
    end

    # The machine, as one line; the same for all benchmarks of a day.
    def machine
      @journal.benchmark[:machine].map { |name, value| "#{name}: #{value}" }.join("; ")
    end

    private

    def columns
      @journal.benchmark[:columns].map { |name| Columns::ALL.fetch(name) }
    end

    def table
      rows = measured.map { |subject| [title(subject), *columns.map { |column| column.text(@results, subject) }, notes(subject)] }
      [["server", *columns.map(&:heading), "notes"], *rows]
    end

    def measured
      @journal.of("subject").select { |subject| @results.names.include?(subject[:name]) }
    end

    def title(subject)
      subject[:version] ? "#{subject[:name]} (#{subject[:version]})" : subject[:name]
    end

    def notes(subject)
      name = subject[:name]
      errors = @results.errors(name)
      base = "base: #{subject[:versus]}" if subject[:versus] && subject[:versus] != @journal.of("subject").first[:versus]
      [base, ("ERRORS: #{errors.map { |kind, count| "#{count} #{kind}" }.join(", ")}" if errors.any?),
       ("load at its limit" if @results.median(name, :load_cpu).to_f > SATURATED)].compact.join("; ")
    end

    def figures
      known, unknown = @journal.of("figure").partition { |figure| figure[:value] }
      lines = known.map { |figure| verdict(figure) }
      lines << "not measured: #{unknown.size} figures, whose servers did not run" if unknown.any?
      lines.join("\n")
    end

    def verdict(figure)
      wanted = "#{figure[:sense].tr("_", " ")} #{figure[:bound]}"
      reached = figure[:sense] == "at_least" ? figure[:value] >= figure[:bound] : figure[:value] <= figure[:bound]
      "#{reached ? "reached" : "NOT reached"}: #{figure[:text]}: #{figure[:value].round(3)} (#{wanted})"
    end

    def conditions
      run = @journal.benchmark
      "#{run[:rounds]} rounds of #{run[:seconds]} s, interleaved, seed #{run[:seed]}; medians."
    end

    # What a reader should doubt.
    def remarks
      [few_rounds, disturbed, *skips].compact.join("\n")
    end

    def few_rounds
      rounds = @journal.benchmark[:rounds]
      "Only #{rounds} of the #{FEW_ROUNDS} rounds that a published figure needs." if rounds < FEW_ROUNDS
    end

    def disturbed
      runs = @journal.of("run")
      count = runs.count { |run| run[:figures].values_at(:others, :steal).compact.any? { |share| share > DISTURBED } }
      return if count.zero?

      "Disturbed (other processes or machines had over #{(DISTURBED * 100).round}% of a core): #{count} of #{runs.size} runs."
    end

    def skips
      @journal.of("skip").map { |skip| "Not measured: #{skip[:name]}: #{skip[:reason]}" }
    end

    def align(rows)
      widths = rows.transpose.map { |cells| cells.map(&:size).max }
      rows.map do |name, *cells, note|
        [name.ljust(widths.first), *cells.zip(widths[1..]).map { |cell, width| cell.rjust(width) }, note].join("  ").rstrip
      end.join("\n")
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    # What remains to be measured of some studies, and how long it takes. The cheapest study comes first.
    #
    # Rule: it reads results, archived and not, and starts nothing.
    class Outstanding
      SERIES = RUBY_VERSION[/\A\d+\.\d+/]
      START = 1.5 # seconds for a start and a stop of a server
      EXTRA = 0.3 # seconds of a run besides its warm-up and its load
      LENGTH = 1.0 # seconds of a load that was never measured, at least

      # study, scale   what to measure
      # reasons        what its archived results lack, in sentences
      # directory      newer results, complete or to be continued; nil if there are none
      # complete       whether these are complete, and only have to be archived
      # ruby           the series of Ruby of its archived results, if that is not this one; or nil
      # seconds        estimate for a round
      # rounds         the number of the study's own rounds that remain
      Item = Struct.new(:study, :scale, :reasons, :directory, :complete, :ruby, :seconds, :rounds,
                        keyword_init: true) do
        # Whether this Ruby can measure it now.
        def due?
          !complete && ruby.nil?
        end

        # Seconds for the study's own rounds.
        def left
          seconds * rounds
        end
      end

      # studies: whole, or reduced (Study#claimed). scale: a number; nil for that of the archived results. precision: a
      # share, or nil. directory: where `cuttle study` writes results. series: of the Ruby that is to measure.
      def initialize(studies, directory:, scale: nil, precision: nil, root: ROOT, series: SERIES)
        @studies = studies
        @directory = directory
        @scale = scale
        @precision = precision
        @series = series
        @root = root
        @archived = (Archive.all(root) + Archive.again(root)).group_by { |findings| findings.study.name }
      end

      # An Array of Item, without the studies that lack nothing. Raises Failure.
      def items
        @items ||= @studies.filter_map { |study| item(study) if study.conditions.any? }.sort_by(&:left)
      end

      private

      def item(study)
        archived = @archived.fetch(study.name, [])
        kept = study.deciding ? by_this_ruby(archived).first : archived.first
        reasons = lacks(study, kept)
        return if reasons.empty?

        scale = scale(study, archived.first)
        newer = newer(study, scale, kept)
        Item.new(study: study, scale: scale, reasons: reasons, directory: newer&.results&.directory,
                 complete: !newer.nil? && !newer.results.interrupted?, ruby: other_ruby(kept),
                 seconds: seconds(study, scale, [*newer, *archived]), rounds: rounds_left(study, newer))
      end

      def by_this_ruby(findings)
        findings.select { |each| Archive.series(each.results) == @series }
      end

      def other_ruby(kept)
        series = kept && Archive.series(kept.results)
        series unless series == @series
      end

      # Claims on another Ruby are measured as they were on the first one, so that only the Ruby differs.
      def scale(study, archived)
        asked = @scale ? Scale.new(@scale) : archived&.scale
        study.scale(asked || Scale.new(1.0))
      end

      # What archived results lack, in sentences.
      def lacks(study, kept)
        return ["no results are kept#{" by Ruby #{@series}" if study.deciding}"] unless kept

        findings = Findings.new(study, kept.scale, kept.results)
        [*("only #{Archive.lacks(findings)}" if Archive.lacking(findings).any?),
         *("no A/A control" unless kept.control),
         *("ratios are not known to within #{percent}" if wide?(findings))]
      end

      def percent
        "#{format("%g", @precision * 100)}%"
      end

      # Whether further rounds would be made for the precision. Results that asked for it have them.
      def wide?(findings)
        asked = findings.results.header[Experiment::NOTE]["precision"]
        @precision && (asked.nil? || asked > @precision) && findings.imprecise(@precision).any?
      end

      # Findings of the newest results in the directory that were measured as an Item is to be, and are not the kept
      # ones; or nil.
      def newer(study, scale, kept)
        paths = Dir["#{@directory}/#{study.name}/*/#{Archive::FILE}"]
        all = paths.map { |path| Archive.findings(File.dirname(path), @root) }
        same = by_this_ruby(all).select { |each| same?(each, study, scale) }
        same.reject { |each| each.results.id == kept&.results&.id }.max_by { |each| each.results.started_at.to_s }
      end

      def same?(findings, study, scale)
        note = findings.results.header[Experiment::NOTE]
        findings.study.deciding == study.deciding && findings.scale == scale && note["precision"] == @precision &&
          Archive.lacking(findings).empty?
      end

      def rounds_left(study, newer)
        [study.rounds - (newer ? newer.rounds : 0), 1].max
      end

      # known: Findings with rates, the most similar first.
      def seconds(study, scale, known)
        conditions = study.conditions | study.control
        starts = conditions.map(&:configuration).uniq.length
        (starts * START) + conditions.sum { |each| study.warmup + EXTRA + length(study, each, scale, known) }
      end

      def length(study, condition, scale, known)
        load = study.load(condition, scale)
        rates = known.lazy.map { |findings| findings.by_round(condition, "rate").values }.find(&:any?)
        return unmeasured(condition, load, scale) unless rates

        rate = Lab::Statistics.median(rates) / (condition.request.scaled? ? condition.scale(scale).factor : 1)
        [load["requests"] / rate, Study::LEAST].max
      end

      # The requests take at least the times that they ask for, as many at once as the server has slots. Each process
      # computes for one at a time.
      def unmeasured(condition, load, scale)
        time, computing = [condition.request.times, condition.request.computing].map do |times|
          times.values.sum * condition.scale(scale).factor / 1000.0
        end
        slots = condition.threads.zero? ? condition.connections : condition.processes * condition.threads
        rate = load["rate"] || [[slots, condition.connections].min / time, condition.processes / computing].min
        [LENGTH, load["requests"] / rate].max
      end
    end
  end
end

# frozen_string_literal: true

module Bench
  # The picture of hello's results: a bar for the CPU time of a request of each server, the least first, with its 95%
  # interval over the rounds. That of the canned responder, which is nearly all the kernel's, is a line across the bars.
  class Picture
    Charts = Cuttle::Report::Charts
    Numbers = Cuttle::Report::Numbers

    OF = "hello" # the benchmark that has one
    KERNEL = "canned"
    HEADING = "CPU time of a request by server, in microseconds"
    UNIT = "microseconds of CPU time per request"

    # lab: a Lab::Results.
    def initialize(lab)
      @results = Results.new(lab)
      compared = lab.configurations.select { |each| each.base == KERNEL && each.server != KERNEL }
      @bars = compared.filter_map { |each| item(each.name, each.name, each.server == "cuttle" ? 0 : 1) }
                      .sort_by { |item| item.value.value }
      @kernel = item(KERNEL, "line: kernel's part (#{KERNEL})", 0)
    end

    # Whether no server was measured.
    def empty?
      @bars.empty?
    end

    # The text of an SVG file.
    def svg
      bars = Charts::Bars.new(HEADING, UNIT, @bars, level: @kernel) { |tick| Numbers.short(tick) }
      "#{bars.to_file}\n"
    end

    # The picture in a Markdown document, with its figures for readers who don't see it. path: of the file, from the
    # document.
    def markdown(path)
      figures = [@kernel, *@bars].compact.map { |item| "#{item.name} #{number(item.value.value)}" }
      "![#{HEADING}: #{figures.join("; ")}](#{path})"
    end

    private

    # nil if the subject was not measured.
    def item(subject, name, slot)
      estimate = @results.estimate(subject, "cpu") or return
      interval = Numbers.interval(estimate) { |value| number(value) }
      figure = [number(estimate.value), ("(#{interval})" if interval)].compact.join(" ")
      Charts::Rows::Item.new(name: name, figure: figure, value: estimate, slot: slot, text: "#{name}: #{figure}")
    end

    def number(value)
      Cuttle::Report::Units.count(value, 2)
    end
  end
end

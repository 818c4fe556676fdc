# frozen_string_literal: true

module Cuttle
  module Report
    module Charts
      # Rows above a common axis. A row has a name, a figure at the right, and a drawing below: an estimate with its
      # interval, unless a subclass draws something else.
      class Rows
        include Markup

        PITCH = 36
        TOP = 4
        ACROSS = [14, WIDTH - 14].freeze
        LETTER = 6.7 # approximate width of a letter

        # value: an estimate, or the value that a subclass draws. slot: the series that gives the mark its colour and
        # shape. text: a description of the mark. hollow: whether the mark is hollow. range: values to shade, or nil.
        Item = Struct.new(:name, :figure, :value, :slot, :text, :hollow, :range, keyword_init: true)

        # The beginning of a name that is too long for the space beside another text.
        def self.short(name, beside:)
          name = Markup.clean(name)
          room = ((WIDTH - 24) / LETTER).floor - beside.length
          name.length > room ? "#{name[0, [room - 1, 1].max]}…" : name
        end

        # heading: for readers who use a screen reader. unit: the unit of the axis. items: an Array of Item. radius: the
        # radius of the marks. The block makes the label of a tick.
        def initialize(heading, unit, items, radius: 3.8, &label)
          @heading = heading
          @unit = unit
          @items = items
          @radius = radius
          @label = label
        end

        # A figure, or nil if there are no items.
        def to_html(title, legend: [])
          Charts.figure(title, svg, legend: legend) if @items.any?
        end

        # The text of an SVG file, or nil if there are no items.
        def to_file
          svg(alone: true) if @items.any?
        end

        private

        # alone: as in Charts.svg.
        def svg(alone: false)
          bottom = TOP + (@items.length * PITCH)
          rows = @items.map.with_index { |item, index| row(item, TOP + (index * PITCH)) }
          Charts.svg(bottom + 36, @heading, description, axis(bottom), rows,
                     tag(:text, @unit, class: "label end", x: WIDTH - 8, y: bottom + 30), alone: alone)
        end

        def axis(bottom)
          Axis.horizontal(ticks.map { |tick| [scale.call(tick), label(tick)] }, TOP, bottom)
        end

        def ticks
          scale.ticks
        end

        # The scale starts at zero.
        def scale
          @scale ||= Scales.around(values, ends, ACROSS, log: false)
        end

        def label(tick)
          @label.call(tick)
        end

        # The whole name shows on hover.
        def row(item, top)
          name = tag(:text, Rows.short(item.name, beside: item.figure), tag(:title, item.name),
                     class: "name", x: 8, y: top + 13)
          tag(:g, name, tag(:text, item.figure, class: "figure end", x: WIDTH - 8, y: top + 13), draw(item, top + 24))
        end

        def description
          @items.map { |item| "#{item.name}: #{item.figure}." }.join(" ")
        end

        def draw(item, y)
          [(shade(item.range, y) if item.range), whisker(item.value, y, item.slot),
           Marker.at(scale.call(item.value.value), y, item.slot, item.text, hollow: item.hollow, radius: @radius)]
        end

        # The interval of an estimate, if it has one.
        def whisker(estimate, y, slot)
          return unless Numbers.interval?(estimate)

          left, right = [estimate.low, estimate.high].map { |value| Charts.at(scale.within(value)) }
          tag(:path, class: "whisker s#{slot + 1}", d: "M#{left} #{y - 3}v6M#{left} #{y}H#{right}M#{right} #{y - 3}v6")
        end

        def shade(range, y)
          left, right = [range.begin || scale.low, range.end || scale.high].map { |end_| Charts.at(scale.within(end_)) }
          tag(:path, class: "claimed", d: "M#{left} #{y - 8}H#{right}V#{y + 8}H#{left}z")
        end

        # The items that the scale has to hold; their estimates' values, and the ends of their intervals.
        def scaled
          @items
        end

        def values
          scaled.map { |item| item.value.value.to_f }
        end

        def ends
          scaled.flat_map { |item| [item.value.low, item.value.high] }.compact
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Report
    # Text tables for a terminal.
    module Columns
      module_function

      # Aligns +rows+, Arrays of Strings, and returns the lines as one String.
      #
      # left: the indices of columns that contain words. All others contain figures and are aligned on the right. gap:
      # the text between two columns. least: the minimum width of each column, where it has one. The first row
      # determines the number of columns. A row with fewer cells is a remark, which widens no column.
      def align(rows, left: [0], gap: "  ", least: [])
        full = rows.select { |cells| cells.length == rows.first.length }
        widths = full.transpose.zip(least).map { |cells, width| [*cells.map(&:length), width.to_i].max }
        rows.map { |cells| line(cells, widths, left).join(gap).rstrip }.join("\n")
      end

      def line(cells, widths, left)
        cells.zip(widths).map.with_index do |(cell, width), index|
          left.include?(index) ? cell.ljust(width) : cell.rjust(width)
        end
      end
    end
  end
end
